"""The one agent: reading questions, choosing tools, writing answers, checking that every figure is grounded."""
