interface Task {
  key: string;
  run: () => Promise<void>;
}

/** Runs tasks concurrently, but never two with the same key: those run in the order in which they were added. */
export class KeyedTasks {
  readonly #concurrency: number;
  readonly #running = new Set<string>();
  #waiting: Task[] = [];
  #paused = false;
  #idle: (() => void)[] = [];

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** The tasks that run or wait. */
  get size(): number {
    return this.#running.size + this.#waiting.length;
  }

  /** @param task.run must not reject */
  add(task: Task): void {
    this.#waiting.push(task);
    this.#startNext();
  }

  /** While paused, only one task starts at a time. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#startNext();
  }

  /** Removes the tasks that have not started. */
  clear(): void {
    this.#waiting = [];
    this.#notifyIfIdle();
  }

  /** Resolves when no task runs or waits. */
  async whenIdle(): Promise<void> {
    if (this.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #startNext(): void {
    for (;;) {
      if (this.#running.size >= (this.#paused ? 1 : this.#concurrency)) return;
      const index = this.#waiting.findIndex(({ key }) => !this.#running.has(key));
      const [task] = index === -1 ? [] : this.#waiting.splice(index, 1);
      if (task === undefined) return;
      this.#running.add(task.key);
      void task.run().finally(() => {
        this.#running.delete(task.key);
        this.#startNext();
        this.#notifyIfIdle();
      });
    }
  }

  #notifyIfIdle(): void {
    if (this.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
