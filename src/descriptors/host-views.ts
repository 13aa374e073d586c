import { z } from 'zod';
import { pathOf, type DeclarationFault } from './check.ts';
import { DEFAULT_LOCALE, type Locale } from './locale.ts';
import { timedTarget } from '../config/signed-target.ts';
import { lineSchema } from './text-schema.ts';
import type { HookUrl, SignedTarget } from './host-hooks.ts';

/** A list of its own beside the feed: those of the reader's items that match, in an order of its own. */
export interface HostView {
  /** What people call it, by language tag: at least `en`. At most 80 characters. */
  readonly label: Readonly<Record<Locale, string>>;
  /** As in the API: all conditions must be met. Default: all items. */
  readonly filter?: object;
  /**
   * Default: RELEVANCY. `rank`: highest first by an expression of the Common Expression Language that gives each item a number, such as
   * `likes * 3.0 - ageHours`. Beside a source: the order of the view while the source does not answer; default RECENT, and never a rank.
   */
  readonly order?: string | { readonly rank: string };
  /**
   * The host says which items it has and how high each stands: the URL is asked by POST for each reader, with the signature of webhooks,
   * and answers a list of at most 500 `{ actionId, score }`, highest first. The reader is shown those that they may see. Default: all items.
   */
  readonly source?: ViewSource;
  /** Only items of the last so many minutes, hours or days, such as `7d`, by the time of the order. Default: all. */
  readonly window?: string;
  /** To be shown in groups. Only in the order RELEVANCY. Default: false. */
  readonly grouped?: boolean;
  /** Whether its unread items are counted. Default: true. */
  readonly counts?: boolean;
  /** It has a read mark of its own, instead of that of the feed. Default: false. */
  readonly ownReadMark?: boolean;
}

/** A URL that is asked which items a view has. */
export interface ViewSource extends HookUrl {
  /** How long an answer may take, in milliseconds: at most 2,000. Default: 500. */
  readonly timeoutMs?: number;
}

/** A view without its faults, but for those of its filter and order. */
export interface DeclaredView {
  readonly name: string;
  readonly label: ReadonlyMap<Locale, string>;
  readonly filter: object;
  readonly order: string;
  /** The expression that ranks its items; `null`: none does. */
  readonly rank: string | null;
  /** The host that says which items it has; `null`: all have it. */
  readonly source: DeclaredSource | null;
  readonly windowMs: number | null;
  readonly isGrouped: boolean;
  readonly isCounted: boolean;
  readonly hasOwnReadMark: boolean;
}

export interface DeclaredSource extends SignedTarget {
  readonly timeoutMs: number;
  /** The order of the view while there is no answer. */
  readonly fallback: string;
}

export const MAX_VIEWS = 20;
const MAX_LABEL = 80;
const RANK = 'RANK';
const SOURCE = 'SOURCE';
const SOURCE_TIMEOUT_MS = { usual: 500, most: 2_000 };
const MINUTE = 60_000;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE };
const LONGEST_WINDOW_MS = 3_650 * 24 * 60 * MINUTE;

const windowSchema = z
  .string()
  .regex(/^[1-9]\d{0,6}[mhd]$/, 'Must be a number of minutes, hours or days, such as 30m, 12h or 7d')
  .transform((window) => Number(window.slice(0, -1)) * (UNITS[window.slice(-1)] ?? 0))
  .refine((ms) => ms <= LONGEST_WINDOW_MS, 'Must be at most ten years');

/** Orders of views alone are not called by name. */
const offeredSchema = z.string().refine((order) => order !== RANK, 'Must be { rank: … }');

const sourceSchema = timedTarget(
  z
    .number()
    .int()
    .min(1)
    .max(SOURCE_TIMEOUT_MS.most, `Must be at most ${String(SOURCE_TIMEOUT_MS.most)} ms`)
    .default(SOURCE_TIMEOUT_MS.usual),
);

const viewSchema = z
  .strictObject({
    label: z
      .record(z.string(), lineSchema(MAX_LABEL))
      .refine((label) => DEFAULT_LOCALE in label, `Must have a label for ${DEFAULT_LOCALE}`),
    filter: z.looseObject({}).optional(),
    order: z.union([offeredSchema, z.strictObject({ rank: z.string() })]).optional(),
    source: sourceSchema.optional(),
    window: windowSchema.optional(),
    grouped: z.boolean().optional(),
    counts: z.boolean().optional(),
    ownReadMark: z.boolean().optional(),
  })
  .refine(({ grouped, order }) => grouped !== true || order === undefined || order === 'RELEVANCY', {
    error: 'Groups are in order of relevancy: leave out order or grouped',
    path: ['grouped'],
  })
  .refine(({ source, order }) => source === undefined || typeof order !== 'object', {
    error: 'A source has scores of its own: leave out rank or source',
    path: ['order'],
  })
  .refine(({ source, grouped }) => source === undefined || grouped !== true, {
    error: 'Groups are in order of relevancy: leave out grouped or source',
    path: ['grouped'],
  });

/** Part of field names in the database, and a label of metrics. */
const nameSchema = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_]{0,39}$/,
    'A name must be 1 to 40 letters, digits and _, beginning with a letter',
  );

const viewsSchema = z
  .record(nameSchema, viewSchema)
  .refine((views) => Object.keys(views).length <= MAX_VIEWS, `Must be at most ${String(MAX_VIEWS)} views`);

export function viewFaults(views: unknown): DeclarationFault[] {
  const { error } = viewsSchema.optional().safeParse(views);
  return (error?.issues ?? []).map((issue) => ({
    path: pathOf('views', issue.path),
    message: issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message,
  }));
}

/** @param views without faults */
export function viewsOf(views: unknown): readonly DeclaredView[] {
  return Object.entries(viewsSchema.parse(views ?? {})).map(([name, view]) => ({
    name,
    label: new Map(Object.entries(view.label)),
    filter: view.filter ?? {},
    ...orderOf(view),
    windowMs: view.window ?? null,
    isGrouped: view.grouped ?? false,
    isCounted: view.counts ?? true,
    hasOwnReadMark: view.ownReadMark ?? false,
  }));
}

function orderOf({
  order,
  source,
}: z.output<typeof viewSchema>): Pick<DeclaredView, 'order' | 'rank' | 'source'> {
  if (typeof order === 'object') return { order: RANK, rank: order.rank, source: null };
  if (source === undefined) return { order: order ?? 'RELEVANCY', rank: null, source: null };
  return { order: SOURCE, rank: null, source: { ...source, fallback: order ?? 'RECENT' } };
}
