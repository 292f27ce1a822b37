"""The pages in a real browser: Chromium, driven by Playwright, against the real command in a process of its own."""
