import { z } from 'zod';
import { pathOf, type DeclarationFault } from './check.ts';
import { DEFAULT_LOCALE, type Locale } from './locale.ts';
import { lineSchema } from './define.ts';

/** A list of its own beside the feed: those of the reader's items that match, in an order of its own. */
export interface HostView {
  /** What people call it, by language tag: at least `en`. At most 80 characters. */
  readonly label: Readonly<Record<Locale, string>>;
  /** As in the API: all conditions must be met. Default: all items. */
  readonly filter?: object;
  /**
   * Default: RELEVANCY. `rank`: highest first by an expression of the Common Expression Language that gives each item a number, such as
   * `likes * 3.0 - ageHours`.
   */
  readonly order?: string | { readonly rank: string };
  /** Only items of the last so many minutes, hours or days, such as `7d`, by the time of the order. Default: all. */
  readonly window?: string;
  /** To be shown in groups. Only in the order RELEVANCY. Default: false. */
  readonly grouped?: boolean;
  /** Whether its unread items are counted. Default: true. */
  readonly counts?: boolean;
  /** It has a read mark of its own, instead of that of the feed. Default: false. */
  readonly ownReadMark?: boolean;
}

/** A view without its faults, but for those of its filter and order. */
export interface DeclaredView {
  readonly name: string;
  readonly label: ReadonlyMap<Locale, string>;
  readonly filter: object;
  readonly order: string;
  /** The expression that ranks its items; `null`: none does. */
  readonly rank: string | null;
  readonly windowMs: number | null;
  readonly isGrouped: boolean;
  readonly isCounted: boolean;
  readonly hasOwnReadMark: boolean;
}

export const MAX_VIEWS = 20;
const MAX_LABEL = 80;
const RANK = 'RANK';
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

const viewSchema = z
  .strictObject({
    label: z
      .record(z.string(), lineSchema(MAX_LABEL))
      .refine((label) => DEFAULT_LOCALE in label, `Must have a label for ${DEFAULT_LOCALE}`),
    filter: z.looseObject({}).optional(),
    order: z.union([offeredSchema, z.strictObject({ rank: z.string() })]).optional(),
    window: windowSchema.optional(),
    grouped: z.boolean().optional(),
    counts: z.boolean().optional(),
    ownReadMark: z.boolean().optional(),
  })
  .refine(({ grouped, order }) => grouped !== true || order === undefined || order === 'RELEVANCY', {
    error: 'Groups are in order of relevancy: leave out order or grouped',
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
    order: typeof view.order === 'object' ? RANK : (view.order ?? 'RELEVANCY'),
    rank: typeof view.order === 'object' ? view.order.rank : null,
    windowMs: view.window ?? null,
    isGrouped: view.grouped ?? false,
    isCounted: view.counts ?? true,
    hasOwnReadMark: view.ownReadMark ?? false,
  }));
}
