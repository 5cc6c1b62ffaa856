"""The fixed Runtime: one owner for each open Session, durable before every effect."""
