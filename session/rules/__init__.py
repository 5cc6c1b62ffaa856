"""The rules of the aggregate: what each change asks of a Session and does to it."""
