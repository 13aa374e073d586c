import type { UserId } from '../../domain/action.ts';

export async function userIds(cursor: {
  project<T extends { _id: UserId }>(projection: { _id: 1 }): { toArray(): Promise<T[]> };
}): Promise<UserId[]> {
  return (await cursor.project<{ _id: UserId }>({ _id: 1 }).toArray()).map(({ _id }) => _id);
}
