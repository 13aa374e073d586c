import { Avatar, useConnection, useFeed } from '@fanfare/react';
import { useEffect, useState, type ReactNode } from 'react';
import { Mark } from '../ui/mark.tsx';
import { Actor } from './actor.tsx';
import { Network } from './network.ts';
import { offeredPeople, ownToken, type Person } from './people.ts';
import { prepare } from './prepare.ts';
import { Reader } from './reader.tsx';
import readerCode from './reader.tsx?raw';
import { useTally, type Side, type Tally } from './tally.ts';

const people = offeredPeople();
const network = new Network();
network.install();

/** Two readers and somebody who publishes, side by side. */
export function Demo(): ReactNode {
  return (
    <>
      <header>
        <Mark />
        <strong>Fanfare</strong>
        <nav className="tabs" aria-label="Pages">
          <a href="/console/demo" aria-current="page">
            Demo
          </a>
          <a href="/console">Console</a>
        </nav>
      </header>
      <main id="main" className="demo">
        <div className="lead">
          <h1>Two people watch, one does something</h1>
          <p className="quiet">
            Click what happened: it is in both feeds before you look. Cut the line to both, go on, and see
            that nothing is lost.
          </p>
        </div>
        {people.length < 3 ? (
          <p className="empty">
            This page looks at the feeds of several people. Their tokens are given only to who started the
            server, on the same machine, and not in production.
          </p>
        ) : (
          <Stage />
        )}
        <section className="card">
          <h2>The code of such a feed</h2>
          <p className="quiet">All of it, as it runs in both columns: hooks and parts of @fanfare/react.</p>
          <pre tabIndex={0}>
            <code>{readerCode}</code>
          </pre>
        </section>
      </main>
    </>
  );
}

const first = (id: string, at: number): string =>
  (people.find(({ memberId }) => memberId === id) ?? people[at])?.memberId ?? '';

function Stage(): ReactNode {
  const [left, setLeft] = useState(first('ada', 0));
  const [right, setRight] = useState(first('carla', 1));
  const [actor, setActor] = useState(first('john', 2));
  const [isCut, setCut] = useState(false);
  const [failure, setFailure] = useState('');
  const tally = useTally();
  useEffect(() => {
    prepare(ownToken, people).catch((error: unknown) => setFailure(String(error)));
  }, []);
  const taken = { left: [right, actor], right: [left, actor], actor: [left, right] };
  const change = (set: (id: string) => void) => (id: string) => {
    tally.clear();
    set(id);
  };
  const setNetwork = (cut: boolean): void => {
    if (cut) network.cut();
    else network.mend();
    setCut(cut);
  };
  const screen = (side: Side, id: string, set: (id: string) => void): ReactNode => (
    <Screen {...{ side, id, tally, isCut }} taken={taken[side]} onChange={change(set)} />
  );
  return (
    <>
      {failure !== '' && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <div className="stage">
        {screen('left', left, setLeft)}
        <Actor
          {...{ tally, isCut, people }}
          person={people.find(({ memberId }) => memberId === actor)}
          readers={[left, right]}
          onNetwork={setNetwork}
          picker={<Picker label="acts" id={actor} taken={taken.actor} onChange={change(setActor)} />}
        />
        {screen('right', right, setRight)}
      </div>
    </>
  );
}

interface PickerProps {
  readonly label: string;
  readonly id: string;
  readonly taken: readonly string[];
  readonly onChange: (id: string) => void;
}

function Picker({ label, id, taken, onChange }: PickerProps): ReactNode {
  return (
    <div className="picker">
      <Avatar id={id} name={people.find(({ memberId }) => memberId === id)?.name ?? id} />
      <select aria-label={label} value={id} onChange={(event) => onChange(event.target.value)}>
        {people.map(({ memberId, name }) => (
          <option key={memberId} value={memberId} disabled={taken.includes(memberId)}>
            {`${name} ${label}`}
          </option>
        ))}
      </select>
    </div>
  );
}

interface ScreenProps extends Omit<PickerProps, 'label'> {
  readonly side: Side;
  readonly tally: Tally;
  readonly isCut: boolean;
}

function Screen({ side, tally, isCut, ...picker }: ScreenProps): ReactNode {
  const person: Person | undefined = people.find(({ memberId }) => memberId === picker.id);
  if (person === undefined) return null;
  return (
    <section className="screen" data-side={side} data-cut={isCut || undefined} aria-label={person.name}>
      <Picker label="watches" {...picker} />
      <div className="pane">
        <Reader key={person.memberId} token={network.tokenBy(person.token)}>
          <Watched side={side} isCut={isCut} onShown={tally.see} />
        </Reader>
      </div>
    </section>
  );
}

interface WatchedProps {
  readonly side: Side;
  readonly isCut: boolean;
  readonly onShown: Tally['see'];
}

/** Tells what the screen shows, and does not wait for the next attempt when the network is back. */
function Watched({ side, isCut, onShown }: WatchedProps): ReactNode {
  const { items } = useFeed({ first: 25, live: 'insert' });
  const { retryNow } = useConnection();
  useEffect(() => {
    onShown(side, new Set(items.map(({ action }) => action.id)));
  }, [side, items, onShown]);
  useEffect(() => {
    if (!isCut) retryNow();
  }, [isCut, retryNow]);
  return null;
}
