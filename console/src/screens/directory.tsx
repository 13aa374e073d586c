import '../later.css';
import { BookUser } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { ownCommand } from '../own-command.ts';
import { goTo, hrefTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { isPerson, PERSON, useDirectory } from '../ui/directory.ts';
import { Face } from '../ui/face.tsx';
import { States, Teach } from '../ui/states.tsx';

const MEMBER = `query Known($id: String!) { member(memberId: $id) { memberId name } ref(refId: $id) { refId label type } }`;
const KINDS = [
  ['all', 'Everybody and everything'],
  ['people', 'People'],
  ['things', 'Things'],
] as const;

/** Whom and what one can look at and follow. */
export function DirectoryScreen(): ReactNode {
  const { query } = useRoute();
  // The address follows what is typed; it is too slow for the keys of who types fast.
  const [text, setText] = useState(query.get('text') ?? '');
  const kind = KINDS.find(([one]) => one === query.get('kind'))?.[0] ?? 'all';
  const { entries, error, isLoading } = useDirectory(
    text,
    (entry) => kind === 'all' || isPerson(entry) === (kind === 'people'),
  );
  return (
    <>
      <div className="filters">
        <input
          type="search"
          aria-label="Name or id"
          placeholder="Name or id"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            const to = hrefTo('directory', '', { text: event.target.value, kind });
            // Each letter would be a step of the way back.
            location.replace(to);
          }}
          onKeyDown={({ key }) => {
            const [first] = entries;
            if (key === 'Enter' && first !== undefined) goTo('slice', first.id);
          }}
        />
        <nav className="tabs" aria-label="Kind">
          {KINDS.map(([name, title]) => (
            <a
              key={name}
              href={hrefTo('directory', '', { text, kind: name })}
              aria-current={name === kind ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      <States
        {...{ isLoading, error }}
        isEmpty={entries.length === 0}
        empty={
          <Teach
            icon={BookUser}
            title={text === '' ? 'Nobody is known yet.' : 'Nothing has this id or name.'}
            code={text === '' ? `${ownCommand()} demo` : `{ member(memberId: "${text}") { name } }`}
          >
            People and things are found by the words of their names, once they are described, and by the whole
            id.
          </Teach>
        }
        onRetry={() => location.reload()}
      >
        <ul className="actions listed">
          {entries.map(({ id, name, kind: of, href, imageUrl }) => (
            <li key={`${of} ${id}`}>
              <Face of={{ id, name, kind: of, imageUrl }} />
              <div>
                <a className="name" href={href} dir="auto">
                  {name}
                </a>
                {id !== name && <code className="hint">{id}</code>}
                <span className="badge" dir={of === PERSON ? undefined : 'auto'}>
                  {of}
                </span>
              </div>
            </li>
          ))}
        </ul>
      </States>
      <AsCode query={MEMBER} variables={{ id: text }} />
    </>
  );
}
