import './later.css';
import { useEffect, useId, useState, type ReactNode } from 'react';
import { Mark } from './ui/mark.tsx';
import { ownCommand } from './own-command.ts';
import { hasOffer, isOperators, signIn, takeOffer } from './session.ts';

export function SignIn(): ReactNode {
  const [token, setToken] = useState('');
  const [tenant, setTenant] = useState('');
  const [isKept, setKept] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const id = useId();
  useEffect(() => {
    document.title = 'Sign in · Fanfare';
  }, []);
  return (
    <main className="sign-in">
      <div className="card">
        <Mark />
        <h1>Sign in to Fanfare</h1>
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
            <code>{ownCommand()} token</code> makes one; with <code>--help</code> it says how. It stays in
            this tab.
          </p>
          {isOperators(token) && (
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
          )}
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
      </div>
    </main>
  );
}
