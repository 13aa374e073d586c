const FOLDERS = ['../../', '../../packages/local-engine/', '../../packages/client/'].map((path) => {
  const folder = new URL(path, import.meta.url).href;
  return { sources: `${folder}src/`, build: `${folder}dist/` };
});

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  const folder = FOLDERS.find(({ sources }) => resolved.url.startsWith(sources));
  if (folder === undefined) return resolved;
  const file = resolved.url.slice(folder.sources.length).replace(/\.ts(?:\?.*)?$/, '.js');
  return { url: folder.build + file, format: 'module', shortCircuit: true };
}
