import { useState, type ReactNode } from 'react';
import { ConfirmDialog } from './confirm.tsx';

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
      isReady={typed === id}
      onConfirm={onErase}
    >
      <p>
        Feed, follows, marks and mutes are removed, actions and interactions anonymised. It cannot be undone.
      </p>
      <label>
        Type the id {id}
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
