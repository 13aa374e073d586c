import { getStitchedSchemaFromSupergraphSdl } from '@graphql-tools/federation';
import { graphql } from 'graphql';
import { expect, test } from 'vitest';
import { startTestApp } from '../../../../test/support/app.ts';
import { commandsOf } from '../../../../test/support/commands.ts';
import { composed, sdlOf, startHostSubgraph } from '../../../../test/support/federation.ts';
import { publish, upsert } from '../../../../test/support/feed-api.ts';

test('a gateway answers a query over two subgraphs, as the reader whose token it passes on', async () => {
  await using app = await startTestApp({ monitorCommands: true, env: { FEDERATION: 'on' } });
  await upsert(app, {
    members: [
      { memberId: 'ann', name: 'Ann' },
      { memberId: 'robert', name: 'Robert' },
    ],
    refs: [{ id: 'berlin', type: 'site', label: 'Berlin' }],
    pairs: [{ followerId: 'reader', refId: 'berlin' }],
  });
  const written = {
    refs: [{ id: 'berlin', type: 'site', label: 'Berlin' }],
    descriptor: { custom: { verb: 'visited', objectType: 'site', objectId: 'berlin' } },
  };
  const id = await publish(app, { actorId: 'robert', scope: 'PUBLIC', ...written });
  const secret = await publish(app, { actorId: 'ann', scope: 'RESTRICTED', recipients: ['ann'], ...written });
  await app.idle();
  await using host = await startHostSubgraph([
    { number: 1, buyer: { memberId: 'ann' }, about: { refId: 'berlin' }, announced: { id } },
    { number: 2, buyer: { memberId: 'robert' }, announced: { id: secret } },
  ]);
  const authorization = `Bearer ${await app.token('reader')}`;
  const schema = getStitchedSchemaFromSupergraphSdl({
    supergraphSdl: composed(await sdlOf(app), { url: `${app.url}/graphql`, host: host.url }),
    httpExecutorOpts: { headers: { authorization } },
    batch: true,
  });

  const commands = await commandsOf(app.app.database, async () => {
    const result = await graphql({
      schema,
      source: /* GraphQL */ `
        {
          orders {
            number
            buyer {
              name
              shoeSize
            }
            about {
              label
              isFollowed
            }
            announced {
              scope
              actor {
                name
              }
            }
          }
          feed(first: 5) {
            edges {
              node {
                action {
                  actor {
                    memberId
                    name
                    shoeSize
                  }
                }
              }
            }
          }
        }
      `,
    });
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({
      // What the reader may not see is nothing, and the gateway says where.
      errors: [{ path: ['orders', 1, 'announced', 'scope'] }],
      data: {
        orders: [
          {
            number: 1,
            buyer: { name: 'Ann', shoeSize: 3 },
            about: { label: 'Berlin', isFollowed: true },
            announced: { scope: 'PUBLIC', actor: { name: 'Robert' } },
          },
          { number: 2, buyer: { name: 'Robert', shoeSize: 6 }, about: null, announced: null },
        ],
        feed: {
          edges: [{ node: { action: { actor: { memberId: 'robert', name: 'Robert', shoeSize: 6 } } } }],
        },
      },
    });
  });
  expect(host.asked).toEqual([1]);
  expect(commands.filter(({ collection }) => collection === 'members').length).toBeLessThanOrEqual(3);
});
