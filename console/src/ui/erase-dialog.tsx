import { useState, type ReactNode } from 'react';
import { ConfirmDialog } from './confirm.tsx';
import { markOf } from './words.ts';

interface EraseProps {
  readonly id: string;
  readonly isOpen: boolean;
  readonly onErase: () => void;
  readonly onClose: () => void;
}

/** It cannot be undone, so the id is typed. */
export function EraseDialog({ id, isOpen, onErase, onClose }: EraseProps): ReactNode {
  const [typed, setTyped] = useState('');
  const close = (): void => {
    // Opened again it asks again.
    setTyped('');
    onClose();
  };
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={close}
      title={`Erase ${id}?`}
      confirm="Erase"
      isDangerous
      isReady={typed === id}
      onConfirm={onErase}
    >
      <p>
        Feed, follows, marks and mutes are removed, actions and interactions anonymised. It cannot be undone.
      </p>
      <label>
        Type the id <bdi>{id}</bdi>
        <input
          name="confirm"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
    </ConfirmDialog>
  );
}

const SAID: Readonly<Record<string, string>> = {
  RUNNING: 'Running',
  CONFIRMING: 'Looking once more',
  DONE: 'Erased',
};

interface StateProps {
  readonly of: { readonly state: string; readonly step: string | null };
}

/** How far an erasure is. */
export function ErasureState({ of: { state, step } }: StateProps): ReactNode {
  return (
    <span className="state" data-is={markOf(state)}>
      {SAID[state] ?? state}
      {step !== null && <span className="quiet">{step}</span>}
    </span>
  );
}
