import type { Db } from 'mongodb';

/** As a local engine calls itself. Other servers look after their own files. */
const LOCAL_ENGINE = 'documentdb';

/**
 * Has a local engine write the collections into new files and remove its log of changes, so that nothing that was deleted or
 * replaced is left in a file. Does nothing on any other server.
 */
export async function forgetDeleted(db: Db): Promise<void> {
  const { storageEngines } = await db.admin().buildInfo();
  if (!Array.isArray(storageEngines) || !storageEngines.includes(LOCAL_ENGINE)) return;
  for await (const { name } of db.listCollections({ type: 'collection' }, { nameOnly: true }))
    await db.command({ compact: name });
  await db.admin().command({ fsync: 1 });
}
