"""What can go wrong while measuring.

BenchError               what is measured does not work
└── NotAvailableError    this build or this box has nothing to measure
"""

from __future__ import annotations

from appliance.errors import ApplianceError


class BenchError(ApplianceError):
    """The daemon, the engine or the model under measurement failed: the message has its last words."""


class NotAvailableError(BenchError):
    """The figure's feature is not there, or the model's context is too short for it: nothing is made up."""
