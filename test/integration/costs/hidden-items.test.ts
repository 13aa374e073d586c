import { expect, test } from 'vitest';
import type { Scope } from '../../../src/domain/action.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts } from '../../support/parts.ts';

const SIZE = 10;

test.each<[Scope, string[]]>([
  ['PUBLIC', ['find itemMarks', 'aggregate actions']],
  ['FOLLOWERS', ['find itemMarks', 'aggregate actions', 'find follows']],
])(
  'a page of hidden items, of %s actions, takes %j, and reads one entry more than it shows',
  async (scope, expected) => {
    await using parts = await openParts({ monitorCommands: true });
    const { services, session, database } = parts;
    await services.follow(session('ann'), 'actor', 0);
    for (let n = 0; n < 3 * SIZE; n += 1) {
      const { action } = await parts.publish({ scope });
      await services.hideFeedItem(session('ann'), action.id);
    }
    const reader = session('ann');
    await reader.profile();
    let shown = 0;
    const commands = await commandsOf(database, async () => {
      shown = (await services.readHiddenItems(reader, { first: SIZE })).edges.length;
    });
    expect(shown).toBe(SIZE);
    expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toEqual(expected);
    const [marks, actions] = commands;
    expect(marks?.command['limit']).toBe(SIZE + 1);
    const [match] = actions?.command['pipeline'] as [{ $match: { _id: { $in: unknown[] } } }];
    const { $in: ids } = match.$match._id;
    expect(ids).toHaveLength(SIZE + 1);
  },
);
