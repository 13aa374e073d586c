import '../later.css';
import { useRef, type ReactNode } from 'react';
import { ownCommand } from '../own-command.ts';
import { useSession } from '../session.ts';

interface Props {
  /** Absent where a screen shows what is no GraphQL. */
  readonly query?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Pages of the server that it reads beside the API, such as /ready. */
  readonly pages?: readonly string[];
  /** Does the same in a terminal, where one does: the command after `npx fanfare`. */
  readonly command?: string | undefined;
  /** Where the code is what one comes for. */
  readonly isOpen?: boolean;
}

/** What a screen asks for, to take along. The token is not in it. */
export function AsCode({ query, variables = {}, pages = [], command, isOpen = false }: Props): ReactNode {
  const tenant = useSession()?.tenant ?? '';
  const text = query?.replaceAll(/\s+/g, ' ').trim();
  const calls = pages.map((path) => `curl -s ${location.origin}${path}`);
  return (
    <details className="as-code" open={isOpen}>
      <summary>As code</summary>
      {text !== undefined && (
        <>
          <h3>GraphQL</h3>
          <Code text={text} />
        </>
      )}
      <h3>curl</h3>
      <Code text={[...(text === undefined ? [] : [curlOf(text, variables, tenant)]), ...calls].join('\n')} />
      {command !== undefined && (
        <>
          <h3>Command line</h3>
          <Code text={`${ownCommand()} ${command}`} />
        </>
      )}
    </details>
  );
}

/** One word of a shell, whatever is in it: an id may come from a link. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function curlOf(query: string, variables: NonNullable<Props['variables']>, tenant: string): string {
  const body = JSON.stringify({ query, variables });
  return [
    `curl -s ${location.origin}/graphql \\`,
    `  -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
    ...(tenant === '' ? [] : [`  -H ${quoted(`fanfare-tenant: ${tenant}`)} \\`]),
    `  -d ${quoted(body)}`,
  ].join('\n');
}

function Code({ text }: { readonly text: string }): ReactNode {
  const shown = useRef<HTMLPreElement>(null);
  /** Where the browser does not let a page copy, the text is selected for the keys. */
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
    }
  };
  return (
    <div className="code">
      <pre ref={shown} tabIndex={0}>
        {text}
      </pre>
      <button type="button" onClick={() => void copy()}>
        Copy
      </button>
    </div>
  );
}
