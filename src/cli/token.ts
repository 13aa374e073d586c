import type { CommandContext } from '../app/command-shapes.ts';
import type { Config } from '../config/config.ts';
import { TENANT_FORM, type Tenant, isTenantName } from '../domain/stored-id.ts';
import { OPERATOR, ROLES } from '../domain/viewer.ts';
import { CommandError, configOf } from './context.ts';
import { keptSecret } from './kept-secret.ts';
import { Acting } from '../core/stored-input.ts';

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
type TokenSigning = Pick<Config['auth'], 'jwtSecret' | 'issuer' | 'audience' | 'tenantClaim'> &
  Partial<Pick<Config['auth'], 'rolesClaim'>>;

/** A token that this server accepts. @throws CommandError when only a JWKS_URI is configured. */
export async function signToken(auth: TokenSigning, request: TokenRequest): Promise<string> {
  if (auth.jwtSecret === undefined)
    throw new CommandError(
      'Tokens are signed with the private keys that belong to JWKS_URI. Set JWT_SECRET to sign tokens here.',
    );
  const { SignJWT } = await import('jose');
  const { tenantClaim, rolesClaim = 'roles' } = auth;
  const claims = { [rolesClaim]: [...request.roles] };
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

export interface ActingOptions {
  readonly tenant?: string | undefined;
}

/** @throws CommandError when the tenant is missing, or given although tenants are off. */
export function actingFor({ auth }: Config, { tenant }: ActingOptions): Acting {
  return new Acting(tenantFor(auth, tenant));
}

/**
 * Tenant of a command; `null`: tenants are off.
 * @throws CommandError when it is missing, or given although tenants are off.
 */
export function tenantFor(auth: Config['auth'], given: string | undefined): Tenant | null {
  if (given !== undefined && !isTenantName(given))
    throw new CommandError(`--tenant got "${String(given)}", expected ${TENANT_FORM}`);
  if (auth.tenantClaim === undefined && given !== undefined)
    throw new CommandError('--tenant is given, but TENANT_CLAIM is not set');
  if (auth.tenantClaim !== undefined && given === undefined)
    throw new CommandError('--tenant <name> is missing: TENANT_CLAIM is set');
  return given ?? null;
}
