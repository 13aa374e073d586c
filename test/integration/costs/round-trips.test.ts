import { expect, test } from 'vitest';
import { commandsOf } from '../../support/commands.ts';
import type { PageArgs } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';

async function feedOf120(scope: 'PUBLIC' | 'FOLLOWERS' = 'PUBLIC'): Promise<Parts> {
  const parts = await openParts({ monitorCommands: true });
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]);
  await parts.services.publishActions(
    parts.service,
    Array.from({ length: 120 }, (_, n) => ({
      actorId: 'actor',
      scope,
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    })),
  );
  await parts.fanOut();
  return parts;
}

const namesOf = (commands: Awaited<ReturnType<typeof commandsOf>>): string[] =>
  commands.map((command) => `${command.name} ${command.collection}`);

test.each([1, 25, 100])(
  'reads a feed page of %i in one round trip if the process has cached its actions, also once the reader is known',
  async (first) => {
    await using parts = await feedOf120();
    // The first read after a while notes that the reader is there.
    await parts.services.readFeed(parts.session('ann'), { first });
    const session = parts.session('ann');
    await session.profile();
    const commands = await commandsOf(parts.database, () => parts.services.readFeed(session, { first }));
    expect(namesOf(commands)).toEqual(['aggregate feeds']);
  },
);

test('reads a page upwards in one round trip, as one down', async () => {
  await using parts = await feedOf120();
  const { edges } = await parts.services.readFeed(parts.session('ann'), { first: 100 });
  const page = async (args: PageArgs): Promise<unknown> => {
    let shown: unknown;
    const commands = await commandsOf(parts.database, async () => {
      const found = await parts.services.readFeed(parts.session('ann'), args);
      shown = found.edges.map(({ node }) => node.actionId);
    });
    return [shown, namesOf(commands)];
  };
  const ids = edges.map(({ node }) => node.actionId);
  const [middle] = edges.slice(50);
  expect(await page({ first: 10, after: middle?.cursor })).toEqual([ids.slice(51, 61), ['aggregate feeds']]);
  expect(await page({ last: 10, before: middle?.cursor })).toEqual([ids.slice(40, 50), ['aggregate feeds']]);
});

test.each(['RELEVANCY', 'RECENT'] as const)(
  'reads a page of an unknown reader in the same round trip, in order %s, and uncached actions in one more',
  async (order) => {
    await using parts = await feedOf120();
    await parts.services.readFeed(parts.session('ann'), {});
    const page = async (reader: Parts): Promise<string[]> =>
      namesOf(
        await commandsOf(reader.database, () =>
          reader.services.readFeed(reader.session('ann'), { first: 25, order }),
        ),
      );
    await page(parts);
    expect(await page(parts)).toEqual(['aggregate feeds']);
    await using other = await parts.reopen({ monitorCommands: true });
    expect(await page(other)).toEqual(['aggregate feeds', 'find actions']);
  },
);

test('reads the reader first if only unread items are requested', async () => {
  await using parts = await feedOf120();
  await parts.services.readFeed(parts.session('ann'), {});
  const session = parts.session('ann');
  const commands = await commandsOf(parts.database, () =>
    parts.services.readFeed(session, { filter: { unreadOnly: true } }),
  );
  const names = namesOf(commands);
  expect(names.slice(0, 2).sort()).toEqual(['find feeds', 'find members']);
  expect(names.slice(2)).toEqual(['find newsfeedItems', 'aggregate actions']);
});

test('knows the reader after one round trip', async () => {
  await using parts = await feedOf120();
  const commands = await commandsOf(parts.database, () => parts.session('ann').profile());
  expect(namesOf(commands).sort()).toEqual(['find feeds', 'find members']);
});

test.each(['PUBLIC', 'FOLLOWERS'] as const)(
  'reads a page of a slice in one round trip if the process has cached its actions, also of an unknown reader, in scope %s',
  async (scope) => {
    await using parts = await feedOf120(scope);
    const read = (session: ReturnType<Parts['session']>) =>
      commandsOf(parts.database, async () => {
        const page = await parts.services.readSlice(session, 'actor', {});
        expect(page.edges).toHaveLength(25);
        return page;
      });
    expect(namesOf(await read(parts.session('ann')))).toEqual(['aggregate actions', 'find actions']);
    const session = parts.session('ann');
    expect(namesOf(await read(session))).toEqual(['aggregate actions']);
    // The session knows the reader now.
    expect(namesOf(await read(session))[0]).toBe('find actions');
  },
);

test('counts what is unread in one round trip, whatever the process remembers of the read mark', async () => {
  await using parts = await feedOf120();
  const { edges } = await parts.services.readFeed(parts.session('ann'), { first: 100 });
  const upTo = edges[10]?.node.relevancy ?? new Date(0);
  const above = edges.filter(({ node }) => node.relevancy > upTo).length;
  const count = async () => {
    let unread: unknown;
    const commands = await commandsOf(parts.database, async () => {
      unread = await parts.services.countUnread(parts.session('ann'));
    });
    return [unread, namesOf(commands)];
  };
  expect(await count()).toEqual([{ count: 100, isExact: false }, ['aggregate feeds']]);
  await parts.services.markFeedRead(parts.session('ann'), upTo);
  for (let n = 0; n < 2; n += 1)
    expect(await count()).toEqual([{ count: above, isExact: true }, ['aggregate feeds']]);
  // As if the reader had been erased and described again.
  await parts.database.collections.feeds.updateOne({ _id: 'ann' }, { $unset: { lastRead: 1 } });
  expect((await count())[0]).toEqual({ count: 100, isExact: false });
  expect(await count()).toEqual([{ count: 100, isExact: false }, ['aggregate feeds']]);
});

test('a service publishes in one round trip, a member in one more, and an import takes one for each hundred', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const descriptor = { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } };
  const publishedBy = async (session: ReturnType<Parts['session']>): Promise<string[]> =>
    namesOf(
      await commandsOf(parts.database, () =>
        parts.services.publishAction(session.identity, { scope: 'PUBLIC', descriptor }),
      ),
    );
  expect(namesOf(await commandsOf(parts.database, () => parts.publish({})))).toEqual(['insert actions']);
  // Who blocks them is not named.
  expect(await publishedBy(parts.session('ann'))).toEqual(['find blocks', 'insert actions']);
  for (const [count, inserts] of [
    [100, 1],
    [500, 5],
  ] as const) {
    const many = Array.from({ length: count }, () => ({ descriptor }));
    const commands = await commandsOf(parts.database, () =>
      parts.services.publishActions(parts.service, many, { isBulk: true }),
    );
    expect(namesOf(commands)).toEqual(Array.from({ length: inserts }, () => 'insert actions'));
  }
});

test('a fan-out takes one read and one write per chunk, besides the claim, the checkpoints and the end', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await parts.services.followMany(
    parts.service,
    Array.from({ length: 250 }, (_, n) => ({ followerId: `f${String(n)}`, refId: 'actor' })),
  );
  await parts.publish({});
  const commands = namesOf(await commandsOf(parts.database, () => parts.fanOut()));
  const count = (name: string): number => commands.filter((command) => command === name).length;
  // Chunks of 100: followers are read three times and written three times, two checkpoints, one end.
  expect(count('find follows')).toBe(3);
  expect(count('insert newsfeedItems')).toBe(3);
  expect(count('update actions')).toBe(1);
});
