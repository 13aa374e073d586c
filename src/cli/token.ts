import { parseDuration } from '../config/units.ts';
import type { Config } from '../config/config.ts';
import type { Tenant } from '../domain/stored-id.ts';
import { OPERATOR, ROLES } from '../domain/viewer.ts';
import { configOf, CommandError, type CommandContext } from './context.ts';
import { keptSecret, withSecret } from './kept-secret.ts';
import { type ActingOptions, tenantFor } from './acting.ts';
import { SignJWT } from 'jose';

const TOKEN_MS = 12 * 3_600_000;
const TOKEN_ROLES = [...ROLES, OPERATOR] as const;
type TokenRole = (typeof TOKEN_ROLES)[number];

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

export interface TokenOptions extends ActingOptions {
  readonly sub: string;
  /** Comma-separated. */
  readonly roles: string;
  readonly expires: string;
}

/** Prints a token and nothing else to stdout, so that it can be assigned to a variable. */
export async function token(context: CommandContext, options: TokenOptions): Promise<void> {
  const { config, keptIn } = await withSecret(configOf(context));
  const roles = readRoles(options.roles);
  const expiresAt = readExpiry(options.expires);
  const tenant = tenantOfToken(config, roles, options.tenant);
  context.terminal.out(await signToken(config.auth, { sub: readSub(options.sub), roles, tenant, expiresAt }));
  const key = keptIn === null ? 'JWT_SECRET' : `the secret in ${keptIn}`;
  context.terminal.note(
    `For "${options.sub}" (${roles.join(', ')}) until ${expiresAt.toISOString()}, signed with ${key}`,
  );
}

function readSub(sub: string): string {
  if (sub === '' || sub.length > 256)
    throw new CommandError('--sub must be a user id of 1 to 256 characters');
  return sub;
}

/** Operators name a tenant in each request: their token has none unless one is given. */
function tenantOfToken(
  config: Config,
  roles: readonly TokenRole[],
  given: string | undefined,
): Tenant | null {
  const isOperator = roles.includes(OPERATOR);
  if (isOperator && config.auth.tenantClaim === undefined)
    throw new CommandError(`The role ${OPERATOR} requires tenants, and TENANT_CLAIM is not set`);
  return isOperator && given === undefined ? null : tenantFor(config.auth, given);
}

function readRoles(list: string): TokenRole[] {
  const names = new Set(list.split(',').map((name) => name.trim()));
  const roles = TOKEN_ROLES.filter((role) => names.delete(role));
  if (names.size > 0 || roles.length === 0)
    throw new CommandError(
      `--roles got "${list}", expected one or more of ${TOKEN_ROLES.join(', ')}, separated by commas`,
    );
  return roles;
}

function readExpiry(text: string): Date {
  const duration = parseDuration(text);
  const date = new Date(Date.now() + (duration ?? Number.NaN));
  if (duration === null || duration < 1_000 || Number.isNaN(date.getTime()))
    throw new CommandError(`--expires got "${text}", expected a duration of at least 1s, such as 12h or 30d`);
  return date;
}
