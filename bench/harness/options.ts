import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

/** What is not measured to be kept must not take the place of what is. */
const SMOKE_RESULTS = '../../.fanfare/bench-smoke';

/** How much is measured. */
export type Size = 'full' | 'short' | 'smoke';

export interface Options {
  /** Names of the parts to run; empty: all. */
  readonly parts: readonly string[];
  readonly size: Size;
  /** Null: what suits the size. */
  readonly rounds: number | null;
  /** Where results go. */
  readonly out: string;
  /** Length of the mixed load; null: what suits the size. */
  readonly loadMinutes: number | null;
  /** A commit that is run beside this checkout; null: none. */
  readonly against: string | null;
  /** Writes CPU profiles of the processes under test. */
  readonly profile: boolean;
}

export const USAGE = `npm run bench -- [parts] [options]

  --list             names the parts
  --short            smaller sizes and fewer rounds: to see that it works
  --smoke            the smallest sizes, no timing that means anything
  --rounds N         measurements of each thing
  --out DIR          where results go (bench/results)
  --load-minutes N   length of the mixed load (3)
  --against COMMIT   runs that commit beside this checkout; no other part unless it is named
  --profile          writes CPU profiles beside the results
`;

/** @throws TypeError on an option that does not exist. */
export function readOptions(args: readonly string[]): Options | 'help' | 'list' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      list: { type: 'boolean' },
      short: { type: 'boolean' },
      smoke: { type: 'boolean' },
      rounds: { type: 'string' },
      out: { type: 'string' },
      'load-minutes': { type: 'string' },
      against: { type: 'string' },
      profile: { type: 'boolean' },
    },
  });
  if (values.help === true) return 'help';
  if (values.list === true) return 'list';
  const size = values.smoke === true ? 'smoke' : values.short === true ? 'short' : 'full';
  return {
    parts: positionals,
    size,
    rounds: above0('rounds', values.rounds),
    out:
      values.out ?? fileURLToPath(new URL(size === 'smoke' ? SMOKE_RESULTS : '../results', import.meta.url)),
    loadMinutes: above0('load-minutes', values['load-minutes']),
    against: values.against ?? null,
    profile: values.profile === true,
  };
}

function above0(name: string, value: string | undefined): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (!(number > 0)) throw new Error(`--${name}: must be a number above 0, got "${value}"`);
  return number;
}
