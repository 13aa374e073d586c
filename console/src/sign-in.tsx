import './later.css';
import { useEffect, useId, useState, type ReactNode } from 'react';
import { Mark } from './ui/mark.tsx';
import { ownCommand } from './own-command.ts';
import { host, type Accounts } from './host.ts';
import { ACCOUNT_KEY, outcome, type Fault } from './outcome.ts';
import { hasOffer, isOperators, signIn, signInBy, takeOffer } from './signing.ts';

/** Resolves when it is known who is signed in; never when the page goes to the host's accounts instead. */
export async function resume(): Promise<void> {
  const { accounts } = host;
  if (accounts === undefined) return;
  const isAnswer = new URLSearchParams(location.search).has('state');
  if (!isAnswer && sessionStorage.getItem(ACCOUNT_KEY) === null) return;
  try {
    await (await import('./accounts.ts')).resume(accounts);
  } catch (error) {
    outcome.fault = { says: 'The sign-in has failed.', details: [String(error)] };
  }
}

export function SignIn(): ReactNode {
  const { accounts } = host;
  useEffect(() => {
    document.title = 'Sign in · Fanfare';
  }, []);
  return (
    <main className="sign-in">
      <div className="card">
        <Mark />
        <h1>Sign in to Fanfare</h1>
        {accounts === undefined ? (
          <ByToken />
        ) : (
          <>
            <ByAccount accounts={accounts} />
            <details>
              <summary>With a token</summary>
              <ByToken />
            </details>
          </>
        )}
      </div>
    </main>
  );
}

function ByAccount({ accounts }: { readonly accounts: Accounts }): ReactNode {
  const [fault, setFault] = useState<Fault | null>(outcome.fault);
  const [isLeaving, setLeaving] = useState(false);
  const [tenant, setTenant] = useState('');
  const { unnamed } = outcome;
  const go = async (): Promise<void> => {
    setFault((outcome.fault = null));
    setLeaving(true);
    try {
      const { begin, explain } = await import('./accounts.ts');
      await begin(accounts).catch((error: unknown) => setFault(explain(error)));
    } catch (error) {
      // Such as after another version of the server was started.
      setFault({ says: 'The sign-in cannot be loaded. Load the page again.', details: [String(error)] });
    }
    setLeaving(false);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isLeaving) return;
        if (unnamed === null) void go();
        else if (signInBy(unnamed.account, unnamed.token, tenant)) outcome.unnamed = null;
      }}
    >
      {fault !== null && <Failed {...{ fault }} />}
      {unnamed !== null && <Tenant {...{ tenant, setTenant }} />}
      <button type="submit" className="main" aria-disabled={isLeaving}>
        {unnamed === null ? 'Sign in with your account' : 'Go on'}
      </button>
      <p className="hint">
        At <bdi>{new URL(accounts.issuer).host}</bdi>
      </p>
    </form>
  );
}

/** Whose an operator wants to see. */
function Tenant({
  tenant,
  setTenant,
}: {
  readonly tenant: string;
  readonly setTenant: (tenant: string) => void;
}): ReactNode {
  return (
    <label>
      Tenant
      <input
        required
        value={tenant}
        onChange={(event) => {
          setTenant(event.target.value);
        }}
      />
    </label>
  );
}

function Failed({ fault: { says, hint = '', details } }: { readonly fault: Fault }): ReactNode {
  return (
    <div role="alert" className="alert">
      <p>{says}</p>
      {hint !== '' && <p>{hint}</p>}
      {details.map((detail) => (
        <p key={detail}>
          <code>{detail}</code>
        </p>
      ))}
    </div>
  );
}

function ByToken(): ReactNode {
  const [token, setToken] = useState('');
  const [tenant, setTenant] = useState('');
  const [isKept, setKept] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const id = useId();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setRefused(!signIn(token, tenant, isKept));
      }}
    >
      <label htmlFor={id}>Token</label>
      <textarea
        id={id}
        rows={4}
        required
        spellCheck={false}
        autoComplete="off"
        value={token}
        aria-describedby={`${id}-hint`}
        onChange={(event) => {
          setToken(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          // A token has no lines: the key does what it does in a field of one line.
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <p id={`${id}-hint`} className="hint">
        <code>{ownCommand()} token</code> makes one; with <code>--help</code> it says how. It stays in this
        tab.
      </p>
      {isOperators(token) && <Tenant {...{ tenant, setTenant }} />}
      <label className="check">
        <input
          type="checkbox"
          checked={isKept}
          onChange={(event) => {
            setKept(event.target.checked);
          }}
        />
        Keep it in this browser
      </label>
      {isRefused && (
        <p role="alert" className="alert">
          That is not a token.
        </p>
      )}
      <button type="submit" className="main">
        Sign in
      </button>
      {hasOffer() && (
        <button type="button" onClick={takeOffer}>
          Sign in with the token of the terminal
        </button>
      )}
    </form>
  );
}
