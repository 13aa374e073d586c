/** A registry of npm packages on this machine, for as long as somebody publishes into it and installs from it. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runServer } from 'verdaccio';

/**
 * Packages of this project come from nowhere else; all others come from the registry that npm is set up for.
 * @param folder an empty one; what is published stays in it
 * @param uplink the address of the other registry
 * @param port 0: any that is free
 * @returns url; env: the settings with which npm publishes there and installs from there; close
 */
export async function startRegistry(folder, uplink, port = 0) {
  const access = { access: '$all', publish: '$all', unpublish: '$all' };
  const server = await runServer({
    storage: join(folder, 'storage'),
    self_path: folder,
    web: { enable: false },
    uplinks: { others: { url: uplink, maxage: '60m', max_fails: 10, timeout: '60s' } },
    packages: { '@fanfare/*': access, '**': { access: '$all', proxy: 'others' } },
    max_body_size: '100mb',
    log: { type: 'stdout', level: 'fatal' },
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${server.address().port}`;
  // npm publishes only with a token. Here it can be any.
  const settings = join(folder, 'npmrc');
  await writeFile(settings, `registry=http://${host}/\n//${host}/:_authToken=anybody\n`);
  return {
    url: `http://${host}`,
    env: { npm_config_userconfig: settings },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
