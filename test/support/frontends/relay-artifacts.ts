import type { Plugin } from 'vite';

const TAGGED = /graphql`\s*(?:query|mutation|subscription|fragment) (\w+)[^`]*`/g;

/** Does what Relay's plugin for bundlers does: puts what the compiler has made in the place of what is tagged `graphql`. */
export function relayArtifacts(): Plugin {
  return {
    name: 'relay-artifacts',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/docs/examples/frontends/relay.ts')) return null;
      const imports: string[] = [];
      const compiled = code.replaceAll(TAGGED, (_document, name: string) => {
        imports.push(`import artifact_${name} from './__generated__/${name}.graphql.ts';`);
        return `artifact_${name}`;
      });
      return { code: `${compiled}\n${imports.join('\n')}\n`, map: null };
    },
  };
}
