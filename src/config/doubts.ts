import type { Config } from './config.ts';
import type { Environment } from './env.ts';

/** A setting that is valid and probably not meant. */
export interface Doubt {
  /** The variable as it is set. */
  readonly name: string;
  readonly message: string;
}

/** Shorter names resemble variables of others: HOST and HOME. */
const SHORTEST = 7;
const MOST_MISTAKES = 2;

/** Finds settings that start and work, but probably not as intended. @param isApi whether tokens are verified */
export function doubtsOf(env: Environment, { auth, http, settings }: Config, isApi: boolean): Doubt[] {
  return [
    ...misspelt(
      env,
      settings.map(([name]) => name),
    ),
    ...(isApi ? [...doubtsOfKeys(auth), ...doubtsOfAccounts(auth, http)] : []),
  ];
}

function doubtsOfAccounts(
  { issuer }: Config['auth'],
  { accounts, console: hasConsole }: Config['http'],
): Doubt[] {
  if (accounts === null) return [];
  const doubts: Doubt[] = [];
  if (issuer !== undefined && issuer !== accounts.issuer)
    doubts.push({
      name: 'JWT_ISSUER',
      message: 'is another one than CONSOLE_OIDC_ISSUER: tokens from its sign-in may be refused here',
    });
  if (!hasConsole)
    doubts.push({
      name: 'CONSOLE_OIDC_ISSUER',
      message: 'is set while the console is off: expected CONSOLE=on',
    });
  return doubts;
}

function doubtsOfKeys({ jwksUri, audience }: Config['auth']): Doubt[] {
  if (jwksUri === undefined) return [];
  const name = 'JWKS_URI';
  const doubts: Doubt[] = [];
  if (jwksUri.startsWith('http:'))
    doubts.push({
      name,
      message: 'is fetched by http: who can change the answer can sign tokens for everybody; expected https',
    });
  if (audience === undefined)
    doubts.push({
      name,
      message:
        'is set without JWT_AUDIENCE: tokens that the same keys sign for other applications are accepted here',
    });
  return doubts;
}

/** Variables that differ little from a setting that is not set. */
function misspelt(env: Environment, names: readonly string[]): Doubt[] {
  const unset = names.filter((name) => name.length >= SHORTEST && (env[name] ?? '') === '');
  return Object.keys(env).flatMap((name) => {
    if (names.includes(name)) return [];
    const [nearest] = unset
      .map((setting) => ({ setting, mistakes: distance(name.toUpperCase(), setting) }))
      .filter(({ mistakes }) => mistakes <= MOST_MISTAKES)
      .sort((one, other) => one.mistakes - other.mistakes);
    return nearest === undefined ? [] : [{ name, message: `is no setting: is ${nearest.setting} meant?` }];
  });
}

/** Letters that are missing, too many, wrong, or swapped with their neighbour; more than `MOST_MISTAKES` count as infinite. */
function distance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MOST_MISTAKES) return Infinity;
  const rows = [Array.from({ length: other.length + 1 }, (_, n) => n)];
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isEqual = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(
        at(rows, i - 1, j) + 1,
        (row[j - 1] ?? Infinity) + 1,
        at(rows, i - 1, j - 1) + (isEqual ? 0 : 1),
        isSwapped ? at(rows, i - 2, j - 2) + 1 : Infinity,
      );
    }
    rows.push(row);
  }
  return at(rows, one.length, other.length);
}

function at(rows: readonly (readonly number[])[], row: number, column: number): number {
  return rows[row]?.[column] ?? Infinity;
}
