// Work on the page is done once a frame, however often it is asked for.

const jobs = new Set();
let asked = false;

/** Runs job before the next frame is drawn, once. A hidden page draws none until it is seen again. */
export function soon(job) {
  jobs.add(job);
  if (asked) return;
  asked = true;
  requestAnimationFrame(run);
}

function run() {
  asked = false;
  const now = [...jobs];
  jobs.clear();
  for (const job of now) {
    try {
      job();
    } catch (error) {
      console.error(error); // one view that fails does not take the others with it
    }
  }
}
