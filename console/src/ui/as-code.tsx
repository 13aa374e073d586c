import type { ReactNode } from 'react';

interface Props {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Does the same in a terminal, where one does. */
  readonly command?: string | undefined;
}

/** What a screen asks for, to take along. The token is not in it. */
export function AsCode({ query, variables = {}, command }: Props): ReactNode {
  const text = query.replaceAll(/\s+/g, ' ').trim();
  const body = JSON.stringify({ query: text, variables });
  const curl = [
    `curl -s ${location.origin}/graphql \\`,
    `  -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n');
  return (
    <details className="as-code">
      <summary>As code</summary>
      <h3>GraphQL</h3>
      <Code text={text} />
      <h3>curl</h3>
      <Code text={curl} />
      {command !== undefined && (
        <>
          <h3>Command line</h3>
          <Code text={command} />
        </>
      )}
    </details>
  );
}

function Code({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="code">
      <pre tabIndex={0}>{text}</pre>
      <button type="button" onClick={() => void navigator.clipboard.writeText(text)}>
        Copy
      </button>
    </div>
  );
}
