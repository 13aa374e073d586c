import { useQuery } from '@fanfare/react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import type { Session } from '../session.ts';
import { Field } from '../ui/field.tsx';
import { INPUTS, listOf, valueOf, type InputField, type Inputs } from '../ui/inputs.ts';
import { AsCode } from '../ui/as-code.tsx';
import { Reached } from '../ui/reached.tsx';
import { States } from '../ui/states.tsx';
import { useClient } from '../ui/use-client.ts';

const PUBLISH = `mutation Publish($input: PublishActionInput!) {
  publishAction(input: $input) { isReplay action { id fanOut { state delivered } } } }`;

/** A form generated from the schema's inputs, including own types. The published action is then followed. */
export function PublishScreen({ session }: { readonly session: Session }): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Inputs>(INPUTS);
  const kinds = data?.descriptor?.inputFields ?? [];
  return (
    <>
      <h1>Publish</h1>
      <States
        {...{ isLoading, error }}
        isEmpty={kinds.length === 0}
        empty="The schema is not served here: INTROSPECTION=on shows the form."
        onRetry={reload}
      >
        {data !== undefined && (
          <PublishForm
            session={session}
            kinds={kinds.map(({ name, description, type }) => ({
              name,
              description,
              fields: type.inputFields ?? [],
            }))}
            scopes={data.scope?.enumValues.map(({ name }) => name) ?? []}
            defaultScope={data.action?.inputFields.find(({ name }) => name === 'scope')?.defaultValue ?? ''}
          />
        )}
      </States>
    </>
  );
}

interface Kind {
  readonly name: string;
  readonly description: string | null;
  readonly fields: readonly InputField[];
}

interface FormProps {
  readonly session: Session;
  readonly kinds: readonly Kind[];
  readonly scopes: readonly string[];
  readonly defaultScope: string;
}

const AUDIENCE = [
  ['refs', 'Ids of the things it is about'],
  ['mentions', 'Ids of the people it mentions'],
  ['recipients', 'Ids of the readers of a RESTRICTED action'],
] as const;

type Values = Readonly<Record<string, string>>;

/**
 * The contents of the form as an input of the API.
 * @throws SyntaxError for invalid JSON
 */
function inputOf(kind: Kind, values: Values): Readonly<Record<string, unknown>> {
  const of = (name: string): string => (values[name] ?? '').trim();
  const filled = kind.fields.map(({ name, type }) => [name, valueOf(type, of(`${kind.name}.${name}`))]);
  const refs = listOf(of('refs')).map((id) => ({ id, type: id.split(':')[0] ?? 'thing', label: id }));
  const given = {
    ...{ scope: of('scope'), actorId: of('actorId') },
    ...{ mentions: listOf(of('mentions')), recipients: listOf(of('recipients')), refs },
  };
  return {
    descriptor: { [kind.name]: Object.fromEntries(filled) as unknown },
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value.length > 0)),
  };
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
  readonly publishAction: { readonly action: { readonly id: string } };
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

function PublishForm({ session, kinds, scopes, defaultScope }: FormProps): ReactNode {
  const client = useClient();
  const [kindName, setKind] = useState(() => draftOf(session).kind ?? 'posted');
  const [values, setValues] = useState(() => draftOf(session).values);
  const [failure, setFailure] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [publishedId, setPublished] = useState<string | null>(null);
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
    if (kind === undefined) return;
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
      setPublished(publishAction.action.id);
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
      <label>
        Type
        <select value={kind?.name ?? ''} onChange={(event) => choose(event.target.value)}>
          {kinds.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {kind?.description != null && <p className="quiet">{kind.description}</p>}
      {kind?.fields.map((field) => (
        <Field
          key={`${kind.name}.${field.name}`}
          field={field}
          value={of(`${kind.name}.${field.name}`)}
          onChange={(value) => set(`${kind.name}.${field.name}`, value)}
        />
      ))}
      <fieldset>
        <legend>Audience</legend>
        <label>
          Scope
          <select value={of('scope')} onChange={(event) => set('scope', event.target.value)}>
            <option value="">{`default: ${defaultScope}`}</option>
            {scopes.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <span className="quiet">Who may see it</span>
        </label>
        {AUDIENCE.map(([name, hint]) => (
          <label key={name}>
            {name}
            <input value={of(name)} onChange={(event) => set(name, event.target.value)} />
            <span className="quiet">{hint}, with commas between</span>
          </label>
        ))}
        {isService && (
          <label>
            actorId
            <input value={of('actorId')} onChange={(event) => set('actorId', event.target.value)} />
            <span className="quiet">Id of who does it; you if nothing is given</span>
          </label>
        )}
      </fieldset>
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <button type="submit" className="main" disabled={isSending}>
        {isSending ? 'Publishing …' : 'Publish'}
      </button>
    </form>
  );
  return (
    <>
      {form}
      {publishedId !== null && (
        <Published key={publishedId}>
          <Reached actionId={publishedId} />
          <p>
            <a href={hrefTo('action', publishedId)}>What was published</a>
          </p>
        </Published>
      )}
      {kind !== undefined && codeOf(kind, values)}
    </>
  );
}

/** Below the form, which is as long as its type has fields: it is brought into view when it comes. */
function Published({ children }: { readonly children: ReactNode }): ReactNode {
  const element = useRef<HTMLElement>(null);
  useEffect(() => element.current?.scrollIntoView({ block: 'center' }), []);
  return <section ref={element}>{children}</section>;
}

function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
