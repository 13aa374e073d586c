import type { Document } from 'mongodb';

/** Former audiences kept individually until a pass processes them. */
const MOST_FORMER = 10;

/** Upper bound on ids of people, refs and resharers in all of them. */
const MOST_FORMER_IDS = 20_000;

const FIELDS = ['audience', 'mentions', 'recipients', 'refIds', 'pullRefIds', 'reshares'] as const;

/**
 * Update pipeline fields that keep the current audience of an action for the pass that notifies readers who lost it. More
 * than ten are merged into one per scope that names everybody in them: the same readers. If they name too many ids, they are
 * dropped, and the pass asks all watchers to resync.
 *
 * @param audience an expression
 * @param isLost an expression: whether there is anything to keep
 */
export function formerKept(audience: Document, isLost: unknown = true): Document {
  const all = { $concatArrays: [{ $ifNull: ['$fanOut.former', []] }, [audience]] };
  const ids = {
    $sum: {
      $map: {
        input: '$$all',
        in: { $sum: FIELDS.map((field) => ({ $size: { $ifNull: [`$$this.${field}`, []] } })) },
      },
    },
  };
  const within = (tooMany: unknown, other: unknown): Document => ({
    $let: { vars: { all }, in: { $cond: [{ $gt: [ids, MOST_FORMER_IDS] }, tooMany, other] } },
  });
  const kept = { $cond: [{ $gt: [{ $size: '$$all' }, MOST_FORMER] }, ONE_FOR_EACH_SCOPE, '$$all'] };
  const changed = (field: string, is: unknown): Document => ({
    $cond: [isLost, is, { $ifNull: [`$${field}`, '$$REMOVE'] }],
  });
  return {
    'fanOut.former': changed('fanOut.former', within([], kept)),
    'fanOut.formerCutRev': changed(
      'fanOut.formerCutRev',
      within({ $max: '$$all.rev' }, { $ifNull: ['$fanOut.formerCutRev', '$$REMOVE'] }),
    ),
  };
}

const ONE_FOR_EACH_SCOPE = {
  $map: {
    input: { $setUnion: ['$$all.scope', []] },
    as: 'scope',
    in: {
      $let: {
        vars: { same: { $filter: { input: '$$all', cond: { $eq: ['$$this.scope', '$$scope'] } } } },
        in: {
          rev: { $max: '$$same.rev' },
          scope: '$$scope',
          ...Object.fromEntries(
            FIELDS.map((field) => [
              field,
              {
                $reduce: {
                  input: `$$same.${field}`,
                  initialValue: [],
                  in: { $setUnion: ['$$value', '$$this'] },
                },
              },
            ]),
          ),
        },
      },
    },
  },
};
