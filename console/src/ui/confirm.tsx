import { useEffect, useRef, type ReactNode } from 'react';

interface Props {
  readonly isOpen: boolean;
  readonly title: string;
  readonly confirm: string;
  /** False: it cannot be confirmed yet. Default true. */
  readonly isReady?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before what cannot be undone. The browser keeps the focus inside and gives it back. */
export function ConfirmDialog(props: Props): ReactNode {
  const { isOpen, title, confirm, isReady = true, onConfirm, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      <p className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="main" disabled={!isReady} onClick={onConfirm}>
          {confirm}
        </button>
      </p>
    </dialog>
  );
}
