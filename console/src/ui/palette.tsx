import {
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
} from 'react';
import { hrefTo } from '../route.ts';
import { useClient } from './use-client.ts';

const KNOWN = `query Known($id: String!) {
  member(memberId: $id) { name } ref(refId: $id) { label type } }`;
const NODE =
  'query KnownNode($id: ID!) { node(id: $id) { __typename ... on Action { descriptor { summary } } } }';
/** Names are those of what happened last: there is no search by name in the API. */
const RECENT = `query Recent { feed(first: 100) { edges { node { action {
  actor { memberId name } refs { refId type label } } } } } }`;
const WAIT_MS = 150;
const MOST = 12;

interface Hit {
  readonly kind: string;
  readonly text: string;
  readonly href: string;
}

interface Recent {
  readonly feed: {
    readonly edges: readonly {
      readonly node: {
        readonly action: {
          readonly actor: { readonly memberId: string; readonly name: string };
          readonly refs: readonly { readonly refId: string; readonly type: string; readonly label: string }[];
        };
      };
    }[];
  };
}

export interface PaletteHandle {
  readonly open: () => void;
}

interface Props {
  readonly ref: Ref<PaletteHandle>;
  readonly screens: readonly { readonly name: string; readonly title: string }[];
}

/** Ctrl+K: any id or name, and where it leads. */
export function Palette({ ref, screens }: Props): ReactNode {
  const client = useClient();
  // Of people there is more to see for who has the role for it.
  const memberScreen = screens.some(({ name }) => name === 'member') ? 'member' : 'slice';
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Hit[]>([]);
  const [names, setNames] = useState<readonly Hit[]>([]);
  /** The chosen one by its address: others may come before it while somebody looks. Null: the first. */
  const [chosen, setChosen] = useState<string | null>(null);
  const open = (): void => {
    if (dialog.current?.open === false) dialog.current.showModal();
    client.request<Recent>(RECENT).then(
      (data) => setNames(namesOf(data, memberScreen)),
      // Ids are found without.
      () => setNames([]),
    );
  };
  const latest = useRef(open);
  useEffect(() => {
    latest.current = open;
  });
  useImperativeHandle(ref, () => ({ open: () => latest.current() }), []);
  useEffect(() => {
    const openByKey = (event: globalThis.KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      latest.current();
    };
    const close = (): void => dialog.current?.close();
    window.addEventListener('keydown', openByKey);
    // The way back of the browser leaves it too.
    window.addEventListener('hashchange', close);
    return () => {
      window.removeEventListener('keydown', openByKey);
      window.removeEventListener('hashchange', close);
    };
  }, []);
  useEffect(() => {
    const id = text.trim();
    setChosen(null);
    setFound([]);
    if (id === '') return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      void lookUp({ client, memberScreen }, id, abort.signal).then((hits) => {
        if (!abort.signal.aborted) setFound(hits);
      });
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, memberScreen, text]);
  const has = (hit: Hit): boolean => hit.text.toLowerCase().includes(text.trim().toLowerCase());
  const places = screens.map(({ name, title }) => ({ kind: 'screen', text: title, href: hrefTo(name) }));
  const known = new Set(found.map(({ href }) => href));
  const hits = [...found, ...[...names, ...places].filter((hit) => has(hit) && !known.has(hit.href))].slice(
    0,
    MOST,
  );
  const at = Math.max(
    0,
    hits.findIndex(({ href }) => href === chosen),
  );
  const go = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    location.hash = hit.href;
    dialog.current?.close();
  };
  const onKey = (event: KeyboardEvent): void => {
    // Of a character that is being composed.
    if (event.nativeEvent.isComposing) return;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) setChosen(hits[Math.max(0, Math.min(hits.length - 1, at + by))]?.href ?? null);
    else if (event.key === 'Enter') go(hits[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} className="palette" aria-label="Go to" onClose={() => setText('')}>
      <input
        role="combobox"
        aria-label="An id or a name"
        aria-expanded={hits.length > 0}
        aria-controls="palette-hits"
        aria-activedescendant={hits.length > 0 ? `palette-${String(at)}` : undefined}
        placeholder="An id or a name"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      <ul id="palette-hits" role="listbox" aria-label="Found">
        {hits.map((hit, index) => (
          <li
            key={hit.href}
            id={`palette-${String(index)}`}
            role="option"
            aria-selected={index === at}
            onClick={() => go(hit)}
          >
            {hit.text} <span className="quiet">{hit.kind}</span>
          </li>
        ))}
      </ul>
      {hits.length === 0 && <p className="quiet">Nothing has this id or name.</p>}
    </dialog>
  );
}

function namesOf({ feed }: Recent, memberScreen: string): Hit[] {
  const hits = new Map<string, Hit>();
  for (const { node } of feed.edges) {
    const { actor, refs } = node.action;
    for (const [id, text, kind] of [
      [actor.memberId, actor.name, 'member'] as const,
      ...refs.map(({ refId, label, type }) => [refId, label, type] as const),
    ])
      hits.set(id, { kind, text, href: hrefTo(kind === 'member' ? memberScreen : 'slice', id) });
  }
  return [...hits.values()];
}

/** What has this id; what cannot be read is not there for this token. */
async function lookUp(
  { client, memberScreen }: { readonly client: ReturnType<typeof useClient>; readonly memberScreen: string },
  id: string,
  signal: AbortSignal,
): Promise<Hit[]> {
  const nothing = (): null => null;
  const [known, node] = await Promise.all([
    client
      .request<{
        readonly member: { readonly name: string } | null;
        readonly ref: { readonly label: string; readonly type: string } | null;
      }>(KNOWN, { id }, signal)
      .catch(nothing),
    client
      .request<{
        readonly node: {
          readonly __typename: string;
          readonly descriptor?: { readonly summary: string };
        } | null;
      }>(NODE, { id }, signal)
      .catch(nothing),
  ]);
  const hits: Hit[] = [];
  if (node?.node?.descriptor !== undefined)
    hits.push({ kind: 'action', text: node.node.descriptor.summary, href: hrefTo('action', id) });
  if (known?.member != null)
    hits.push({ kind: 'member', text: known.member.name, href: hrefTo(memberScreen, id) });
  if (known?.ref != null)
    hits.push({ kind: known.ref.type, text: known.ref.label, href: hrefTo('slice', id) });
  return hits;
}
