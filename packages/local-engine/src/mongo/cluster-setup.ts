import { makeVerifier } from '../gateway/auth/scram-server.ts';
import type { PostgresConnection } from '../gateway/postgres/connection.ts';
import { GATEWAY_USER } from '../passwords.ts';
import { HERE } from '../process/service-user.ts';
import { POSTGRES_PORT } from './postgres-settings.ts';

/** Of the extensions, those the tree has a newer version of; the one the others need first. */
const OUTDATED = `SELECT name FROM pg_available_extensions
  WHERE installed_version <> default_version AND name LIKE 'documentdb%'
  ORDER BY name = 'documentdb_core' DESC, name = 'documentdb' DESC`;

/**
 * What the gateway may do: all of the extension, and what keeps its tables in order. It is no superuser, so a client that speaks for it
 * neither reads files nor runs programs.
 */
const GATEWAY_ROLE = `SELECT 'CREATE ROLE ${GATEWAY_USER} LOGIN'
  WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '${GATEWAY_USER}')`;
const GATEWAY_RIGHTS = [
  `GRANT documentdb_admin_role, pg_maintain, pg_checkpoint TO ${GATEWAY_USER}`,
  `GRANT EXECUTE ON FUNCTION pg_switch_wal() TO ${GATEWAY_USER}`,
];

/**
 * Every two seconds each of these jobs makes a connection of its own, which costs a tenth of a core. The gateway runs them
 * itself where it has something to build, so they are left with what a gateway began and did not end.
 */
const SELDOM = `UPDATE cron.job SET schedule = '* * * * *'
  WHERE jobname LIKE '%index_build_task%' AND schedule <> '* * * * *'`;

/**
 * Sets up the cluster for this start: newer versions of the extensions, where the jobs of pg_cron connect to and how often, and
 * the passwords of roles. Ends the session.
 */
export async function setUpCluster(
  session: PostgresConnection,
  passwords: Readonly<Record<string, string>>,
): Promise<void> {
  const texts = async (query: string): Promise<readonly string[]> =>
    (await session.execute(query, [])).map(([text]) => text?.toString() ?? '');
  try {
    for (const extension of await texts(OUTDATED)) {
      await session.execute(`ALTER EXTENSION ${extension} UPDATE`, [], true);
    }
    for (const statement of [...(await texts(GATEWAY_ROLE)), ...GATEWAY_RIGHTS])
      await session.execute(statement, [], true);
    await session.execute(
      `UPDATE cron.job SET nodename = '${HERE}', nodeport = ${String(POSTGRES_PORT)}`,
      [],
      true,
    );
    await session.execute(SELDOM, [], true);
    for (const [role, password] of Object.entries(passwords)) {
      await session.execute(`ALTER ROLE ${role} PASSWORD '${storedForm(role, password)}'`, [], true);
    }
  } finally {
    await session.close();
  }
}

/** As PostgreSQL stores it, so that the password itself is never sent. */
function storedForm(role: string, password: string): string {
  const { salt, iterations, storedKey, serverKey } = makeVerifier(role, password);
  const [salted, stored, server] = [salt, storedKey, serverKey].map((bytes) => bytes.toString('base64'));
  return `SCRAM-SHA-256$${String(iterations)}:${salted ?? ''}$${stored ?? ''}:${server ?? ''}`;
}
