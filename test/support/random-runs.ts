/** What the random suites of one run go by. */
export interface RandomRuns {
  readonly seed: number;
  readonly depth: number;
}

/** A usual run always does the same. */
const USUAL_SEED = 20_140_210;
/** How many times as many random runs a deep run does. */
const DEEP = 10;

/** By the environment: `FANFARE_TEST_DEEP=1` for a deep run, `FANFARE_TEST_SEED` to repeat one. */
export function randomRuns(env: Readonly<Record<string, string | undefined>>): RandomRuns {
  const isDeep = (env['FANFARE_TEST_DEEP'] ?? '') !== '';
  const given = env['FANFARE_TEST_SEED'];
  return {
    seed: wholeNumber(given) ?? (isDeep ? Date.now() % 1_000_000_000 : USUAL_SEED),
    depth: isDeep ? DEEP : 1,
  };
}

function wholeNumber(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text))
    throw new Error(`FANFARE_TEST_SEED is "${text}"; a whole number below 1,000,000,000 is wanted`);
  return Number(text);
}
