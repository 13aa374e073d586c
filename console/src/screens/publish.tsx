import '../later.css';
import { useInReview, useLanguage } from '@fanfare/react/more';
import { Send } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import type { Session } from '../session.ts';
import { AsCode } from '../ui/as-code.tsx';
import { isPerson } from '../ui/directory.ts';
import { Field } from '../ui/field.tsx';
import { listOf, valueOf } from '../ui/inputs.ts';
import { isNewId, newId, useKinds, type Kind } from '../ui/kinds.ts';
import { Picker } from '../ui/picker.tsx';
import { Reached } from '../ui/reached.tsx';
import { Scheduled } from '../ui/scheduled.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { States, Teach } from '../ui/states.tsx';
import { useClient } from '../ui/use-client.ts';
import { titled, wordFor } from '../ui/words.ts';

const PUBLISH = `mutation Publish($input: PublishActionInput!) {
  publishAction(input: $input) { isReplay action { id isHidden publishAt fanOut { state delivered } } } }`;

/** A form generated from the schema's inputs, including own types. The published action is then followed. */
export function PublishScreen({ session, id }: Shown): ReactNode {
  const { kinds, scopes, defaultScope, error, isLoading, reload } = useKinds();
  return (
    <States
      {...{ isLoading, error }}
      isEmpty={kinds.length === 0}
      empty={
        <Teach icon={Send} title="The schema is not served here." code="INTROSPECTION=on">
          This form is made from the schema of the server, which says nothing of itself in production.
        </Teach>
      }
      onRetry={reload}
    >
      {kinds.length > 0 && <PublishForm {...{ session, kinds, scopes, defaultScope, chosen: id }} />}
    </States>
  );
}

interface Shown {
  readonly session: Session;
  /** Name of the type that is chosen; empty: the last one. */
  readonly id: string;
}

interface FormProps {
  readonly session: Session;
  readonly kinds: readonly Kind[];
  readonly scopes: readonly string[];
  readonly defaultScope: string;
  readonly chosen: string;
}

const AUDIENCE = [
  ['mentions', 'Mentions', 'People who get it as they are mentioned'],
  ['refs', 'About', 'Things whose followers get it'],
  ['recipients', 'Recipients', 'The only readers of what is for named people'],
] as const;

type Values = Readonly<Record<string, string>>;

/**
 * The contents of the form as an input of the API.
 * @throws SyntaxError for invalid JSON
 */
function inputOf(kind: Kind, values: Values): Readonly<Record<string, unknown>> {
  const of = (name: string): string => (values[name] ?? '').trim();
  const filled = kind.fields.map(({ name, type }) => [name, valueOf(type, of(keyOf(kind, name)))]);
  const refs = listOf(of('refs')).map((id) => ({ id, type: id.split(':')[0] ?? 'thing', label: id }));
  const publishAt = of('publishAt');
  const given = {
    ...{ publishAt: publishAt === '' ? '' : new Date(publishAt).toISOString() },
    ...{ scope: of('scope'), actorId: of('actorId') },
    ...{ mentions: listOf(of('mentions')), recipients: listOf(of('recipients')), refs },
  };
  return {
    descriptor: { [kind.name]: Object.fromEntries(filled) as unknown },
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value.length > 0)),
  };
}

/** Of a field, among what was typed for all types. */
function keyOf(kind: Kind, field: string): string {
  return `${kind.name}.${field}`;
}

/** `null` while an entry is invalid. */
function codeOf(kind: Kind, values: Values): ReactNode {
  try {
    return <AsCode query={PUBLISH} variables={{ input: inputOf(kind, values) }} />;
  } catch {
    return null;
  }
}

interface Answer {
  readonly publishAction: {
    readonly action: { readonly id: string; readonly isHidden: boolean; readonly publishAt: string | null };
  };
}

interface Draft {
  kind: string | null;
  values: Values;
  /** Kept after a failure, so that a retry publishes once: the server may have received the first attempt. */
  attempt: { readonly content: string; readonly idempotencyKey: string } | null;
}

/** What was typed, restored when the form is opened again. Kept in the page's memory only, and cleared with the session. */
const drafts = new WeakMap<Session, Draft>();

function draftOf(session: Session): Draft {
  const known = drafts.get(session);
  if (known !== undefined) return known;
  // Makes the first action that somebody tries appear in their own feed.
  const draft = { kind: null, values: { mentions: session.memberId }, attempt: null };
  drafts.set(session, draft);
  return draft;
}

/** What is new needs an id that nothing else has: one is made, and can be changed. */
function withIds(values: Values, kinds: readonly Kind[]): Values {
  const made = kinds.flatMap((kind) =>
    kind.fields.filter(isNewId).map((field) => [keyOf(kind, field.name), newId(field)] as const),
  );
  return { ...Object.fromEntries(made), ...values };
}

function PublishForm({ session, kinds, scopes, defaultScope, chosen }: FormProps): ReactNode {
  const client = useClient();
  const [kindName, setKind] = useState(() => (chosen === '' ? (draftOf(session).kind ?? 'posted') : chosen));
  const [values, setValues] = useState(() => {
    const draft = draftOf(session);
    draft.values = withIds(draft.values, kinds);
    return draft.values;
  });
  const [failure, setFailure] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [published, setPublished] = useState<Answer['publishAction']['action'] | null>(null);
  const kind = kinds.find(({ name }) => name === kindName) ?? kinds[0];
  const of = (name: string): string => values[name] ?? '';
  const set = (name: string, value: string): void => {
    const draft = draftOf(session);
    draft.values = { ...draft.values, [name]: value };
    setValues(draft.values);
  };
  const choose = (name: string): void => {
    draftOf(session).kind = name;
    setKind(name);
  };
  const isService = session.roles.includes('service');
  const publish = async (): Promise<void> => {
    if (kind === undefined || isSending) return;
    setFailure(null);
    setSending(true);
    try {
      const input = inputOf(kind, values);
      const content = JSON.stringify(input);
      const draft = draftOf(session);
      if (draft.attempt?.content !== content) draft.attempt = { content, idempotencyKey: randomKey() };
      const { idempotencyKey } = draft.attempt;
      const { publishAction } = await client.request<Answer>(PUBLISH, {
        input: { ...input, idempotencyKey },
      });
      draft.attempt = null;
      // The next one is another one.
      const ids = kind.fields
        .filter(isNewId)
        .map((field) => [keyOf(kind, field.name), newId(field)] as const);
      draft.values = { ...draft.values, ...Object.fromEntries(ids), publishAt: '' };
      setValues(draft.values);
      setPublished(publishAction.action);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
    setSending(false);
  };
  const form = (
    <form
      className="publish"
      onSubmit={(event) => {
        event.preventDefault();
        void publish();
      }}
    >
      <div className="field">
        <label htmlFor="kind">What happened</label>
        <select id="kind" value={kind?.name ?? ''} onChange={(event) => choose(event.target.value)}>
          {kinds.map(({ name }) => (
            <option key={name} value={name} dir="auto">
              {titled(name)}
            </option>
          ))}
        </select>
        {kind?.description != null && (
          <span className="hint" dir="auto">
            {kind.description}
          </span>
        )}
      </div>
      {kind?.fields.map((field) => (
        <Field
          key={keyOf(kind, field.name)}
          field={field}
          value={of(keyOf(kind, field.name))}
          onChange={(value) => set(keyOf(kind, field.name), value)}
        />
      ))}
      <details className="card" open>
        <summary>Audience</summary>
        <div className="field">
          <label htmlFor="scope">Who may see it</label>
          <select id="scope" value={of('scope')} onChange={(event) => set('scope', event.target.value)}>
            <option value="">{`${wordFor(defaultScope)} (default)`}</option>
            {scopes.map((name) => (
              <option key={name} value={name}>
                {wordFor(name)}
              </option>
            ))}
          </select>
        </div>
        {AUDIENCE.map(([name, label, hint]) => (
          <div key={name} className="field">
            <Picker
              {...{ name, label }}
              isList
              defaultValue={of(name)}
              onChange={(value) => set(name, value)}
            />
            <span className="hint">{hint}</span>
          </div>
        ))}
        <div className="field">
          <label htmlFor="publishAt">When</label>
          <input
            id="publishAt"
            type="datetime-local"
            value={of('publishAt')}
            onChange={(event) => set('publishAt', event.target.value)}
          />
          <span className="hint">In the time of this machine. Empty: now</span>
        </div>
        {isService && (
          <div className="field">
            <Picker
              name="actorId"
              label="Who does it"
              kind={isPerson}
              defaultValue={of('actorId')}
              placeholder="You"
              onChange={(value) => set('actorId', value)}
            />
          </div>
        )}
      </details>
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <button type="submit" className="main" aria-disabled={isSending}>
        <Send aria-hidden="true" /> {isSending ? 'Publishing …' : 'Publish'}
      </button>
    </form>
  );
  const typed =
    kind === undefined
      ? {}
      : Object.fromEntries(kind.fields.map(({ name }) => [name, of(keyOf(kind, name))]));
  return (
    <>
      <div className="columns">
        {form}
        <div className="preview plain">
          {kind !== undefined && (
            <section className="card">
              <h2>It will say</h2>
              <Sentence key={kind.name} kind={kind} values={typed} actor={of('actorId')} />
            </section>
          )}
          {published?.isHidden === false && published.publishAt === null && (
            <Published key={published.id}>
              <Reached actionId={published.id} />
              <p>
                <a href={hrefTo('action', published.id)}>What was published</a>
              </p>
            </Published>
          )}
          <Scheduled key={`scheduled ${published?.id ?? ''}`} />
          <InReview key={`in-review ${published?.id ?? ''}`} />
        </div>
      </div>
      {kind !== undefined && codeOf(kind, values)}
    </>
  );
}

/** What was published before and nobody else sees yet. */
function InReview(): ReactNode {
  const { actions } = useInReview();
  const language = useLanguage();
  if (actions.length === 0) return null;
  return (
    <section className="card">
      <h2>Waiting for review</h2>
      <ul>
        {actions.map(({ id, descriptor }) => (
          <li key={id} lang={language} dir="auto">
            {descriptor.summary}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** On a phone it is below the form, which is as long as its type has fields: it is brought into view when it comes. */
function Published({ children }: { readonly children: ReactNode }): ReactNode {
  const element = useRef<HTMLElement>(null);
  useEffect(() => element.current?.scrollIntoView({ block: 'nearest' }), []);
  return <section ref={element}>{children}</section>;
}

function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
