import type { Config } from '../config/config.ts';
import type { Tenant } from '../domain/stored-id.ts';
import { OPERATOR, ROLES } from '../domain/viewer.ts';
import { configOf, CommandError, type CommandContext } from './context.ts';
import { keptSecret } from './kept-secret.ts';
import { type ActingOptions, tenantFor } from './acting.ts';
import { SignJWT } from 'jose';

const TOKEN_MS = 12 * 3_600_000;
export const TOKEN_ROLES = [...ROLES, OPERATOR] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

interface TokenRequest {
  readonly sub: string;
  readonly roles: readonly TokenRole[];
  /** `null` without tenants, and for an operator. */
  readonly tenant?: Tenant | null;
  readonly expiresAt: Date;
}

/** The part of the configuration that a token depends on. */
type TokenSigning = Pick<Config['auth'], 'jwtSecret' | 'issuer' | 'audience' | 'tenantClaim'>;

/** A token that this server accepts. @throws CommandError when only a JWKS_URI is configured. */
export async function signToken(auth: TokenSigning, request: TokenRequest): Promise<string> {
  if (auth.jwtSecret === undefined)
    throw new CommandError(
      'Tokens are signed with the private keys that belong to JWKS_URI. Set JWT_SECRET to sign tokens here.',
    );
  const { tenantClaim } = auth;
  const claims = { roles: [...request.roles] };
  const own = tenantClaim === undefined || request.tenant === null ? {} : { [tenantClaim]: request.tenant };
  const token = new SignJWT({ ...own, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(request.sub)
    .setIssuedAt()
    .setExpirationTime(request.expiresAt);
  if (auth.issuer !== undefined) token.setIssuer(auth.issuer);
  if (auth.audience !== undefined) token.setAudience(auth.audience);
  return token.sign(new TextEncoder().encode(auth.jwtSecret));
}

/** A token with all roles, signed with the local key. */
export async function ownToken(
  context: CommandContext,
  sub: string,
  options: ActingOptions,
): Promise<string> {
  const { auth, dataDir } = configOf(context, { needsKey: false });
  const tenant = tenantFor(auth, options.tenant);
  const jwtSecret = auth.jwtSecret ?? (await keptSecret(dataDir));
  if (jwtSecret === null)
    throw new CommandError(
      `--token is missing: there is no JWT_SECRET and no secret in ${dataDir} to sign one`,
    );
  const expiresAt = new Date(Date.now() + TOKEN_MS);
  return signToken({ ...auth, jwtSecret }, { sub, roles: ROLES, tenant, expiresAt });
}
