import { expect, test } from 'vitest';
import { expectRebuildsChangeNothing } from '../../support/model-rebuilds.ts';
import type { Step } from '../../support/model-steps.ts';
import { NOTIFICATION_KINDS } from '../../../src/domain/notification.ts';
import { notificationsFor } from '../../support/model-concerns.ts';
import { happens } from '../../support/model-story.ts';
import type { ShownItem, View } from '../../support/model-views.ts';
import { KINDS, WHOLE_STORY } from '../../support/model-whole-story.ts';
import { openParts } from '../../support/parts.ts';
import { IS_DEEP } from '../../support/seed.ts';
import { someModels } from '../../support/some-models.ts';

/** One beyond which feeds go on from the source, and one that none reaches. */
const CAPS = IS_DEEP ? [3, 1_000] : [3];

/** Views of the reader that show nothing: a list without an entry, a count of none. */
function emptyOf(view: View): string[] {
  const isEmpty = (value: unknown): boolean =>
    value === null ||
    (Array.isArray(value) && value.length === 0) ||
    (typeof value === 'object' && 'count' in value && value.count === 0) ||
    (typeof value === 'object' && 'groups' in value && isEmpty(value.groups));
  return Object.keys(view).filter((name) => isEmpty(view[name]));
}

test.each(someModels(0).flatMap((model) => CAPS.map((cap) => ({ model, cap }))))(
  'every kind of step has its effect, every view shows something, and a rebuild changes nothing, with feeds stored by $model and a cap of $cap',
  async (options) => {
    await using parts = await openParts(options);
    const effective = new Set<Step['do']>();
    const taken = new Set<Step['do']>();
    let notified: string[] = [];
    let shown: View = {};
    await happens(parts, 0, WHOLE_STORY, {
      taken(step, hasChanged) {
        taken.add(step.do);
        if (hasChanged) effective.add(step.do);
      },
      async end(run) {
        notified = run.model.readers
          .flatMap((reader) => notificationsFor(run.model, reader))
          .map(({ kind }) => kind);
        shown = await expectRebuildsChangeNothing(run, run.reader(WHOLE_STORY.focus));
      },
    });
    expect([...taken].sort()).toEqual(Object.keys(KINDS).sort());
    const changing = Object.entries(KINDS).flatMap(([kind, what]) => (what === 'changes' ? [kind] : []));
    expect([...effective].sort()).toEqual(changing.sort());
    expect([...new Set(notified)].sort()).toEqual([...NOTIFICATION_KINDS].sort());
    const reasons = (shown['feed'] as readonly ShownItem[]).flatMap((item) => item.reasons);
    // What is addressed to the team is what this reader put aside.
    expect([...new Set(reasons)].sort()).toEqual(['FOLLOW', 'MENTION', 'RESHARE']);
    expect(shown['ref ann']).toMatchObject({ pinned: ['#0', '#2', '#1'], follow: { isAssigned: false } });
    // Nobody acts through the eyes of these.
    const idle = ['slice of bob', 'slice of dan', 'slice of eve', 'slice of position', 'slice of applicant'];
    expect(emptyOf(shown).filter((name) => !idle.includes(name))).toEqual([]);
  },
  600_000,
);
