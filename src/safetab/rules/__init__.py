"""Every rule about what users pass in: its code, what must hold, and what to do where it does not."""
