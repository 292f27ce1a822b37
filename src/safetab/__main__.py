"""`python -m safetab` is the command `safetab`."""

import sys

from safetab.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
