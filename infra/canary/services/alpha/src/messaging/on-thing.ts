import '../http/view.ts'; // room-messaging
