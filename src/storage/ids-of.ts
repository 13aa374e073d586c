import type { UserId } from '../domain/action.ts';

/** The ids of the documents, which are those of users. */
export async function userIds(cursor: {
  project<T extends { _id: UserId }>(projection: { _id: 1 }): { toArray(): Promise<T[]> };
}): Promise<UserId[]> {
  return (await cursor.project<{ _id: UserId }>({ _id: 1 }).toArray()).map(({ _id }) => _id);
}
