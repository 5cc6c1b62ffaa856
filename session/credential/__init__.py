"""Credentials by reference: what is stored and configured names them, one component holds them.

```python
keys = EnvironmentCredentials({"openai": "OPENAI_API_KEY"})
CredentialsModule(FirstOf(KeyringCredentials(), keys))
```
"""

from typing import TYPE_CHECKING

from agentslot._lazy import imports_when_used

if TYPE_CHECKING or not imports_when_used(__name__):
    from agentslot.session.credential.contract import (
        CREDENTIAL_RESOLVER,
        CredentialResolver,
        CredentialsModule,
    )
    from agentslot.session.credential.encrypted import EncryptedFileCredentials, seal
    from agentslot.session.credential.errors import (
        CredentialError,
        CredentialKindMismatch,
        CredentialNotFound,
        CredentialUnavailable,
    )
    from agentslot.session.credential.googledefault import GOOGLE_DEFAULT, GoogleCredentials
    from agentslot.session.credential.lookup import (
        ENVIRONMENT,
        EnvironmentCredentials,
        FirstOf,
        LookupCredentials,
        MemoryCredentials,
        in_environment,
    )
    from agentslot.session.credential.material import (
        BasicLogin,
        BearerToken,
        CredentialKind,
        CredentialRecord,
        CredentialRef,
        Material,
    )
    from agentslot.session.credential.oauth import (
        MemoryTokens,
        OAuthCredentials,
        OAuthToken,
        TokenStore,
    )
    from agentslot.session.credential.systemkeyring import KeyringCredentials

__all__ = [
    "CREDENTIAL_RESOLVER",
    "ENVIRONMENT",
    "GOOGLE_DEFAULT",
    "BasicLogin",
    "BearerToken",
    "CredentialError",
    "CredentialKind",
    "CredentialKindMismatch",
    "CredentialNotFound",
    "CredentialRecord",
    "CredentialRef",
    "CredentialResolver",
    "CredentialUnavailable",
    "CredentialsModule",
    "EncryptedFileCredentials",
    "EnvironmentCredentials",
    "FirstOf",
    "GoogleCredentials",
    "KeyringCredentials",
    "LookupCredentials",
    "Material",
    "MemoryCredentials",
    "MemoryTokens",
    "OAuthCredentials",
    "OAuthToken",
    "TokenStore",
    "in_environment",
    "seal",
]
