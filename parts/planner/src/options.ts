import { InvalidArgumentError, Option } from 'commander';
import { amount } from './figures.ts';
import { MEASURED_COSTS } from './measured-costs.ts';

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9 };
/** More than the number of people, or than anybody counts. */
const MOST = 1e12;
const MOST_MEMBERS = 1e9;

/** Options of `fanfare plan`. Numbers may end in k, M or G. */
export function planOptions(): readonly Option[] {
  const of = (flags: string, text: string, least: number, most: number): Option =>
    new Option(flags, text).argParser((given) => numberIn(given, least, most));
  const whole: typeof of = (flags, text, least, most) =>
    new Option(flags, text).argParser((given) => wholeIn(given, least, most));
  return [
    whole('--members <n>', 'number of members', 1, MOST_MEMBERS).makeOptionMandatory(),
    whole('--readers <n>', 'members who read on a given day; default: three in ten', 1, MOST_MEMBERS),
    whole(
      '--refs <n>',
      'number of things and people that can be followed; default: as many as members',
      1,
      MOST_MEMBERS,
    ),
    of('--follows <n>', 'average number of follows of a member; default: 50', 0.01, 1e5),
    of(
      '--zipf <exponent>',
      'how unequal refs are: the n-th has 1/n^exponent followers of the first; default: 1',
      0,
      3,
    ),
    whole('--actions <n>', 'actions per day, in total; default: a tenth of the members', 1, MOST),
    whole('--reads <n>', 'pages per day, in total; default: ten per reader', 1, MOST),
    whole(
      '--notifications <n>',
      'pages of notifications per day, in total; default: two per reader',
      0,
      MOST,
    ),
    of(
      '--marking <share>',
      'share of pages by readers who archive, mute, block or filter much, which count threefold; default: 0',
      0,
      1,
    ),
    of('--peak <factor>', 'load of the busiest hour, relative to the average; default: 3', 1, 1_000),
    of('--watching <share>', "share of the day's readers who watch in the busiest hour; default: 0.1", 0, 1),
    new Option(
      '--model <name>',
      `feed model: ${Object.keys(MEASURED_COSTS.models).join(', ')}; default: items`,
    ),
    whole('--threshold <followers>', 'CELEBRITY_THRESHOLD; default: 10000', 0, MOST),
    whole('--cap <entries>', 'FEED_CAP; default: 1000', 1, 1e6),
    whole('--days <n>', 'days for which actions are kept; default: 365', 1, 36_500),
    whole('--cores <n>', 'cores of a machine; default: 8', 1, 1_024),
    whole('--workers <n>', 'worker processes; default: as many as required', 1, 1_000),
    whole('--burst <actions>', 'additional actions that arrive at the same moment; default: none', 0, 1e5),
    whole('--seed <n>', 'seed of the simulation; default: 1', 0, 2 ** 31),
    new Option(
      '--costs <file>',
      'unit costs of your own machine: bench/results/unit-costs.json of npm run bench -- unit-costs',
    ),
    new Option(
      '--html <file>',
      'write a page with tables and bars instead of printing; it needs nothing else',
    ).conflicts('json'),
    new Option('--json', 'print everything as JSON'),
  ];
}

function numberIn(text: string, least: number, most: number): number {
  const value = valueOf(text);
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(
    `Expected a number from ${amount(least)} to ${amount(most)}, such as 0.5, 250k, 10M or 1G.`,
  );
}

/** People come in whole numbers. */
function wholeIn(text: string, least: number, most: number): number {
  const value = valueOf(text);
  if (value >= least && value <= most && Number.isInteger(value)) return value;
  throw new InvalidArgumentError(
    `Expected a whole number from ${amount(least)} to ${amount(most)}, such as 8, 250k, 1.5M or 1G.`,
  );
}

/** NaN: not a number. */
function valueOf(text: string): number {
  const [, digits = '', unit = ''] = /^([\d_]+(?:\.\d+)?)([kMG]?)$/.exec(text) ?? [];
  // Floating point: 1.001k must become 1001.
  return digits === ''
    ? NaN
    : Number((Number(digits.replaceAll('_', '')) * (UNITS[unit] ?? NaN)).toPrecision(15));
}
