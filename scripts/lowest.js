/** The lowest that a package allows of what is installed beside it. */

/**
 * @param manifest of a package
 * @param run starts a program
 * @returns what npm is to install, such as `react@18.0.0`: of each peer, and of the peers of that, the lowest published version
 */
export async function lowestPeers({ peerDependencies = {} }, run) {
  const view = async (...args) => JSON.parse((await run('npm', ['view', ...args, '--json'])).stdout || '{}');
  const found = new Map();
  const add = async (ranges, optional = {}) => {
    for (const [name, range] of Object.entries(ranges)) {
      if (name.startsWith('@fanfare/') || optional[name]?.optional === true) continue;
      const [lowest] = [await view(`${name}@${range}`, 'version')].flat().sort(byVersion);
      // Two that are allowed from different versions on meet at the higher one.
      if (found.has(name) && byVersion(found.get(name), lowest) >= 0) continue;
      found.set(name, lowest);
      const { peerDependencies: peers, peerDependenciesMeta: meta } = await view(
        `${name}@${lowest}`,
        'peerDependencies',
        'peerDependenciesMeta',
      );
      await add(peers ?? {}, meta);
    }
  };
  await add(peerDependencies);
  return [...found].map(([name, version]) => `${name}@${version}`);
}

function byVersion(a, b) {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : left[at] - right[at];
}
