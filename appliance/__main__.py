"""`python -m appliance`: the command line."""

from appliance.cli import main

main()
