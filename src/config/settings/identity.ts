import { duration, secret, text, url } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting, optional } = settingsOf('Identity');

const ANY = /./;
/** Short claim names, and URLs for namespaced claims. */
const CLAIM_NAME = /^[\w.:/-]{1,128}$/;

export const IDENTITY_SETTINGS = {
  JWT_SECRET: optional(secret(8), 'Key of HS256 tokens; at least 32 bytes in production, 8 elsewhere.', {
    shownDefault: 'generated and stored in DATA_DIR',
    isSecret: true,
  }),
  JWKS_URI: optional(url('https', 'http'), 'URL of the JWKS with the public keys of signed tokens.'),
  JWKS_MAX_AGE: setting(
    '5m',
    duration('1s', '24h'),
    'How long a key that was removed from the JWKS may still be accepted.',
    'auth.jwksMaxAgeMs',
  ),
  JWKS_MAX_STALE: setting(
    '24h',
    duration('1s', '5200w'),
    'How long known keys are accepted while JWKS_URI cannot be reached.',
    'auth.jwksMaxStaleMs',
  ),
  JWT_ISSUER: optional(text('a text', ANY), 'Required `iss` of tokens.'),
  JWT_AUDIENCE: optional(text('a text', ANY), 'Required `aud` of tokens.'),
  TENANT_CLAIM: optional(
    text('the name of a claim', CLAIM_NAME),
    'The token claim that names the tenant; tokens without it are rejected. Not set: no tenants. Cannot be changed on a database with data.',
  ),
} as const;
