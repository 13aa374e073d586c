import '../later.css';
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@fanfare/react';
import { Clock, Languages, LogOut, MonitorPlay, Newspaper, type LucideIcon } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { signOut, type Session } from '../session.ts';
import { changeLanguage, t } from '../words/language.ts';
import { setZone, useZone } from '../zone.ts';
import { useDirectory } from './directory.ts';
import { Face } from './face.tsx';
import { useClient } from './use-client.ts';

const ACTIONS = `query RecentActions { feed(first: 100) { edges { node { action { id descriptor { summary } } } } } }`;
const NODE = 'query KnownNode($id: ID!) { node(id: $id) { ... on Action { id descriptor { summary } } } }';
const MOST = 12;

/** Where the rail leads. */
export interface Place {
  readonly name: string;
  readonly title: string;
  readonly icon: LucideIcon;
  /** Default: the screen of that name. */
  readonly href?: string;
}
interface Named {
  readonly id: string;
  readonly descriptor?: { readonly summary: string };
}
interface Recent {
  readonly feed: { readonly edges: readonly { readonly node: { readonly action: Named } }[] };
}

interface Hit {
  readonly key: string;
  readonly kind: string;
  readonly text: string;
  readonly icon: ReactNode;
  readonly go: () => void;
}

interface Props {
  readonly places: readonly Place[];
  readonly session: Session;
  readonly text: string;
  readonly onType: (text: string) => void;
  readonly onClose: () => void;
}

/** Ctrl+K: people, things, actions, screens and commands by a part of their names, and whatever has this id. */
export function Palette({ places, session, text, onType, onClose }: Props): ReactNode {
  const hits = useHits(text, places, session);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette" aria-label="Go to">
          <Autocomplete.Root
            inline
            open
            items={hits}
            filter={null}
            mode="none"
            autoHighlight="always"
            value={text}
            onValueChange={(value, { reason }) => reason !== 'item-press' && onType(value)}
            itemToStringValue={(hit: Hit) => hit.text}
          >
            <Autocomplete.Input
              aria-label="A name or an id"
              placeholder="Find people, things, actions, screens …"
            />
            <Autocomplete.List aria-label="Found">
              {(hit: Hit) => (
                <Autocomplete.Item
                  key={hit.key}
                  value={hit}
                  onClick={() => {
                    onClose();
                    hit.go();
                  }}
                >
                  {hit.icon}
                  <span dir="auto">{hit.text}</span> <span>{hit.kind}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
          {hits.length === 0 && <p className="quiet">Nothing has this id or name.</p>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function useHits(text: string, places: readonly Place[], session: Session): readonly Hit[] {
  const { entries } = useDirectory(text);
  const recent = useQuery<Recent>(ACTIONS).data?.feed.edges.map(({ node }) => node.action) ?? [];
  const node = useNode(text.trim());
  const zone = useZone();
  const isAdmin = session.roles.includes('admin');
  const to = (href: string) => (): void => {
    if (href.startsWith('#')) location.hash = href;
    else location.assign(href);
  };
  const hit = (kind: string, name: string, icon: ReactNode, go: () => void, key = name): Hit => ({
    ...{ key: `${kind} ${key}`, kind, text: name, icon, go },
  });
  const has = (one: Hit): boolean => one.text.toLowerCase().includes(text.trim().toLowerCase());
  const screens = places.map(({ name, title, icon: Icon, href = hrefTo(name) }) =>
    hit('screen', t(title), <Icon aria-hidden="true" />, to(href)),
  );
  const commands = [
    hit('command', t(zone === 'utc' ? 'Show times of this machine' : 'Show times in UTC'), <Clock />, () =>
      setZone(zone === 'utc' ? 'local' : 'utc'),
    ),
    hit('command', t('Auf Deutsch'), <Languages />, changeLanguage),
    hit('command', t('Open the demo'), <MonitorPlay />, to('/console/demo')),
    hit('command', t('Sign out'), <LogOut />, signOut),
  ];
  const actions = [...node, ...recent].map(({ id, descriptor }) =>
    hit('action', descriptor?.summary ?? id, <Newspaper />, to(hrefTo('action', id)), id),
  );
  const people = entries.map(({ id, name, kind, href, imageUrl }) =>
    hit(
      kind,
      name,
      <Face of={{ id, name, kind, imageUrl }} />,
      to(kind === 'person' && isAdmin ? hrefTo('member', id) : href),
      id,
    ),
  );
  if (text.trim() === '') return [...screens, ...commands].slice(0, MOST + 4);
  const exact = new Set(node.map(({ id }) => `action ${id}`));
  const found = [
    ...actions.filter(({ key }, at) => exact.has(key) && at === 0),
    ...people,
    ...screens.filter(has),
    ...commands.filter(has),
    ...actions.filter((one) => !exact.has(one.key) && has(one)),
  ];
  return found.slice(0, MOST);
}

/** The action of this global id. */
function useNode(id: string): readonly Named[] {
  const client = useClient();
  const [found, setFound] = useState<readonly Named[]>([]);
  useEffect(() => {
    setFound([]);
    // Global ids are long; whatever is shorter is a name.
    if (id.length < 12) return undefined;
    const abort = new AbortController();
    client.request<{ readonly node: Named | null }>(NODE, { id }, abort.signal).then(
      ({ node }) => setFound(node?.descriptor === undefined ? [] : [node]),
      () => undefined,
    );
    return () => {
      abort.abort();
    };
  }, [client, id]);
  return found;
}
