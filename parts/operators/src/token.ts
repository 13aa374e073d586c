import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { parseDuration } from '../../../src/config/units.ts';
import type { Config } from '../../../src/config/config.ts';
import { clock } from '../../../src/lib/clock.ts';
import type { Tenant } from '../../../src/domain/stored-id.ts';
import { OPERATOR } from '../../../src/domain/viewer.ts';
import { configOf, CommandError } from '../../../src/cli/context.ts';
import { withSecret } from '../../../src/cli/kept-secret.ts';
import { type ActingOptions, tenantFor } from '../../../src/cli/token.ts';
import { signToken, TOKEN_ROLES, type TokenRole } from '../../../src/cli/token.ts';

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
  const date = new Date(clock.time() + (duration ?? Number.NaN));
  if (duration === null || duration < 1_000 || Number.isNaN(date.getTime()))
    throw new CommandError(`--expires got "${text}", expected a duration of at least 1s, such as 12h or 30d`);
  return date;
}
