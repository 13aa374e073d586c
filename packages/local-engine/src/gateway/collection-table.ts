import type { Engine } from './engine.ts';

/** The table that holds a collection's documents; undefined for a view and for what does not exist. */
export async function tableOf(engine: Engine, db: string, collection: string): Promise<string | undefined> {
  const [row] = await engine.rows({
    sql: `SELECT 'documentdb_data.documents_' || collection_id FROM documentdb_api_catalog.collections
      WHERE database_name = $1 AND collection_name = $2 AND view_definition IS NULL`,
    parameters: [db, collection],
  });
  return row?.[0]?.toString();
}
