import { createRequest, gql, type Client, type TypedDocumentNode } from '@urql/core';
import { deedOf, type cacheDocuments, type CachedComment, type CacheSource } from '@fanfare/client/cache';
import { settled, textOf } from './lists.ts';

const ACTION_OF: TypedDocumentNode<{ node: CachedComment | null }, { id: string }> = gql`
  query ActionOf($id: ID!) {
    node(id: $id) {
      id
      ... on Interaction {
        action {
          id
        }
      }
    }
  }
`;

/** Of a comment that the cache has. */
function actionOf(client: Client, id: string): string | undefined {
  const found = client.readQuery(ACTION_OF, { id }, { requestPolicy: 'cache-only' });
  return found?.data?.node?.action.id;
}

/** @returns what a reader does, shown at once and, as everything else they change, sent when its turn has come */
export function deedsOf(
  client: Client,
  source: CacheSource,
  documents: ReturnType<typeof cacheDocuments>,
): ReturnType<CacheSource['waiting']['perform']> {
  /** What has no answer in the cache yet. */
  const open = new Map<string, Promise<void>>();
  let count = 0;
  return source.waiting.perform({
    send: (write) =>
      source.during(async () => {
        const text = textOf(documents[deedOf(write) ?? 'like']);
        const data = await source.request(text, write.variables);
        // Until the cache has the answer, which it keeps back while other deeds are under way.
        source.during(() => open.get(write.id) ?? Promise.resolve()).catch(() => undefined);
        return data;
      }),
    async show(write) {
      const { id, variables, done } = write;
      const deed = deedOf(write);
      if (deed === undefined) return;
      done.catch(() => undefined);
      const request = createRequest(gql(documents[deed]), variables);
      // By its key urql would take the same deed a second time for the one that is under way.
      const key = request.key + (count += 1);
      const context = { deed, fetch: async () => answerOf(await done) };
      const shown = settled(client.executeMutation({ ...request, key }, context).toPromise());
      open.set(id, shown);
      try {
        await shown;
      } finally {
        open.delete(id);
      }
    },
    actionOf: (id) => actionOf(client, id),
  });
}

export function answerOf(data: unknown): Response {
  return new Response(JSON.stringify({ data }), { headers: { 'content-type': 'application/json' } });
}
