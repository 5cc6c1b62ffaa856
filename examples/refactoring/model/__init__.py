"""A loopback model that can rename a name in Python code, with the tools of the reference agent.

Like the model of the demonstration it decides each turn from the request that it got, and refuses
one whose tool results are not what the tools give for that repository.
"""
